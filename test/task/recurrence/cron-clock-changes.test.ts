import { describe, expect, test } from 'vitest'
import { cron, nextDues, nextTold, told } from './rules.js'

const NEW_YORK = 'America/New_York'

describe('a fixed local time that does not exist', () => {
  test('runs once, later by the length of the gap (C011)', () => {
    expect(nextTold(cron('30 2 * * *', NEW_YORK), '2027-03-13T12:00Z', 3)).toEqual([
      '2027-03-14T07:30Z shifted',
      '2027-03-15T06:30Z normal',
      '2027-03-16T06:30Z normal',
    ])
  })

  test('is skipped under SKIP, at the instant that it would have been moved to', () => {
    expect(nextTold(cron('30 2 * * *', NEW_YORK, { dstGap: 'skip' }), '2027-03-13T12:00Z', 2)).toEqual([
      '2027-03-14T07:30Z skipped',
      '2027-03-15T06:30Z normal',
    ])
  })

  test('at the very start of the gap is moved like the others (C012)', () => {
    const both = [cron('0 2 * * *', NEW_YORK), cron('0 2 * * *', NEW_YORK, { dstGap: 'skip' })]
    expect(both.map((rule) => nextTold(rule, '2027-03-13T12:00Z', 1))).toEqual([
      ['2027-03-14T07:00Z shifted'],
      ['2027-03-14T07:00Z skipped'],
    ])
  })

  test('that is moved onto a regular one is one run (C029)', () => {
    for (const dstGap of ['shift', 'skip'] as const)
      expect(nextTold(cron('30 2,3 * * *', NEW_YORK, { dstGap }), '2027-03-14T04:00Z', 3)).toEqual([
        '2027-03-14T07:30Z normal',
        '2027-03-15T06:30Z normal',
        '2027-03-15T07:30Z normal',
      ])
  })

  test('keeps its place between regular ones', () => {
    expect(nextTold(cron('0,20,40 2-3 * * *', NEW_YORK), '2027-03-14T06:59Z', 4)).toEqual([
      '2027-03-14T07:00Z normal',
      '2027-03-14T07:20Z normal',
      '2027-03-14T07:40Z normal',
      '2027-03-15T06:00Z normal',
    ])
    // half an hour: 02:15 becomes 02:45, between 02:40 and 02:50
    expect(nextTold(cron('15,40,50 2 * * *', 'Australia/Lord_Howe'), '2027-10-02T15:00Z', 4)).toEqual([
      '2027-10-02T15:40Z normal',
      '2027-10-02T15:45Z shifted',
      '2027-10-02T15:50Z normal',
      '2027-10-03T15:15Z normal',
    ])
  })

  test('keeps its seconds', () => {
    expect(nextTold(cron('*/30 30 2 * * *', NEW_YORK), '2027-03-13T12:00Z', 2)).toEqual([
      '2027-03-14T07:30Z shifted',
      '2027-03-14T07:30:30Z shifted',
    ])
  })

  test.each(['Africa/Cairo', 'Asia/Beirut'])(
    'is not lost where clocks change at midnight: %s (C020)',
    (zone) => {
      const dues = nextDues(cron('0 0 * * *', zone), Date.parse('2027-01-01T12:00Z'), 365)
      expect(dues.filter(({ mark }) => mark === 'shifted')).toHaveLength(1)
      const hoursBetween = dues.slice(1).map(({ due }, i) => (due - (dues[i]?.due ?? 0)) / 3_600_000)
      // one hour later on the day of the change, back on time on the next
      expect(hoursBetween.filter((hours) => hours === 23)).toHaveLength(1)
      expect(hoursBetween.filter((hours) => hours === 25)).toHaveLength(1)
    },
  )

  test('may come after midnight: in Nuuk clocks go forward at 23:00 on a Saturday', () => {
    expect(nextTold(cron('30 23 * * *', 'America/Nuuk'), '2027-03-26T12:00Z', 4)).toEqual([
      '2027-03-27T01:30Z normal',
      '2027-03-28T01:30Z shifted',
      '2027-03-29T00:30Z normal',
      '2027-03-30T00:30Z normal',
    ])
  })

  test('runs a day later when a whole day is missing: Samoa had no 30 December 2011', () => {
    // a Friday: the weekly run moves to Saturday, the daily one is that of Saturday
    expect(nextTold(cron('0 12 * * FRI', 'Pacific/Apia'), '2011-12-28T00:00Z', 2)).toEqual([
      '2011-12-30T22:00Z shifted',
      '2012-01-05T22:00Z normal',
    ])
    expect(nextTold(cron('0 12 * * *', 'Pacific/Apia'), '2011-12-28T23:00Z', 3)).toEqual([
      '2011-12-29T22:00Z normal',
      '2011-12-30T22:00Z normal',
      '2011-12-31T22:00Z normal',
    ])
    expect(
      nextTold(cron('0 12 30 12 *', 'Pacific/Apia', { dstGap: 'skip' }), '2011-12-28T23:00Z', 1),
    ).toEqual(['2011-12-30T22:00Z skipped'])
  })
})

describe('a fixed local time that comes twice', () => {
  const runs = (dstOverlap: 'first' | 'last' | 'both') =>
    nextTold(cron('30 1 * * *', NEW_YORK, { dstOverlap }), '2027-11-06T12:00Z', 3)

  test('runs in the first pass under FIRST (C014)', () => {
    expect(runs('first')).toEqual([
      '2027-11-07T05:30Z normal',
      '2027-11-08T06:30Z normal',
      '2027-11-09T06:30Z normal',
    ])
  })

  test('runs in the second pass under LAST', () => {
    expect(runs('last')).toEqual([
      '2027-11-07T06:30Z normal',
      '2027-11-08T06:30Z normal',
      '2027-11-09T06:30Z normal',
    ])
  })

  test('runs in both under BOTH', () => {
    expect(runs('both')).toEqual([
      '2027-11-07T05:30Z doubled',
      '2027-11-07T06:30Z doubled',
      '2027-11-08T06:30Z normal',
    ])
  })

  test('does so too when asked from between the passes', () => {
    const from = (dstOverlap: 'first' | 'last' | 'both') =>
      nextTold(cron('30 1 * * *', NEW_YORK, { dstOverlap }), '2027-11-07T05:45Z', 1)
    expect(from('first')).toEqual(['2027-11-08T06:30Z normal'])
    expect(from('last')).toEqual(['2027-11-07T06:30Z normal'])
    expect(from('both')).toEqual(['2027-11-07T06:30Z doubled'])
  })

  test('is one run each for the hour before, and the hour itself, where it is half an hour long', () => {
    expect(nextTold(cron('15,45 1 * * *', 'Australia/Lord_Howe'), '2027-04-03T14:00Z', 3)).toEqual([
      '2027-04-03T14:15Z normal',
      '2027-04-03T14:45Z normal',
      '2027-04-04T14:45Z normal',
    ])
  })

  test('is the midnight hour in Cairo: the day has one run at 23:30, whichever pass', () => {
    const duesUnder = (dstOverlap: 'first' | 'last') =>
      nextTold(cron('30 23 * * *', 'Africa/Cairo', { dstOverlap }), '2027-10-28T12:00Z', 2)
    expect(duesUnder('first')).toEqual(['2027-10-28T20:30Z normal', '2027-10-29T21:30Z normal'])
    expect(duesUnder('last')).toEqual(['2027-10-28T21:30Z normal', '2027-10-29T21:30Z normal'])
  })
})

describe('a rule whose minute or hour begins with *', () => {
  test('follows real time through the gap (C013)', () => {
    for (const expression of ['* * * * *', '*/5 * * * *'])
      expect(nextTold(cron(expression, NEW_YORK), '2027-03-14T06:59Z', 1)).toEqual([
        '2027-03-14T07:00Z normal',
      ])
    expect(nextTold(cron('0 * * * *', NEW_YORK), '2027-03-14T06:30Z', 1)).toEqual([
      '2027-03-14T07:00Z normal',
    ])
  })

  test('does not run for a local time in the gap, whatever the policy', () => {
    for (const dstGap of ['shift', 'skip'] as const)
      expect(nextTold(cron('*/30 2 * * *', NEW_YORK, { dstGap }), '2027-03-13T12:00Z', 1)).toEqual([
        '2027-03-15T06:00Z normal',
      ])
  })

  test('does so when its next day is far away', () => {
    const hourly = cron('*/30 1 * * SUN', NEW_YORK)
    expect(nextTold(hourly, '2027-11-07T05:15Z', 4)).toEqual([
      '2027-11-07T05:30Z doubled',
      '2027-11-07T06:00Z doubled',
      '2027-11-07T06:30Z doubled',
      '2027-11-14T06:00Z normal',
    ])
  })

  test('runs in both passes of the repeated hour, whatever the policy (C016)', () => {
    const half = (hour: number, mark: string) => [
      `2027-04-03T${hour}:00Z ${mark}`,
      `2027-04-03T${hour}:30Z ${mark}`,
    ]
    for (const dstOverlap of ['first', 'last', 'both'] as const)
      expect(
        nextTold(cron('*/30 * * * *', 'Australia/Melbourne', { dstOverlap }), '2027-04-03T14:45Z', 6),
      ).toEqual([...half(15, 'doubled'), ...half(16, 'doubled'), ...half(17, 'normal')])
  })
})

describe('zones', () => {
  test('with two changes in a week keep both: Recife in October 2000', () => {
    const noons = nextDues(cron('0 12 * * *', 'America/Recife'), Date.parse('2000-10-06T00:00Z'), 11)
    const hours = noons.map(({ due }) => new Date(due).getUTCHours())
    expect(hours).toEqual([15, 15, 14, 14, 14, 14, 14, 14, 14, 15, 15])
  })

  test('with an offset to the second, as before standard time, are exact', () => {
    expect(nextTold(cron('0 12 * * *', 'America/New_York'), '1850-01-01T00:00Z', 1)).toEqual([
      '1850-01-01T16:56:02Z normal',
    ])
  })

  test('with a change of two hours: Troll', () => {
    expect(nextTold(cron('30 1,2 * * *', 'Antarctica/Troll'), '2027-03-28T00:00Z', 3)).toEqual([
      '2027-03-28T01:30Z shifted',
      '2027-03-28T02:30Z shifted',
      '2027-03-28T23:30Z normal',
    ])
  })
})

test('a due time is strictly after its base, to the millisecond (C040)', () => {
  const at = Date.parse('2027-01-01T09:00Z')
  const next = (base: number) => told(nextDues(cron('0 9 * * *'), base, 1)[0]?.due ?? 0)
  expect(next(at - 1)).toBe('2027-01-01T09:00Z')
  expect(next(at)).toBe('2027-01-02T09:00Z')
  expect(next(at + 1)).toBe('2027-01-02T09:00Z')
  expect(next(at - 0.5)).toBe('2027-01-01T09:00Z')
})
