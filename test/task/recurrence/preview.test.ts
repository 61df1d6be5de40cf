import { describe, expect, test } from 'vitest'
import { preview } from '../../../server/task/recurrence/preview.js'
import { firstSlot, nextSlot } from '../../../server/task/recurrence/slots.js'
import { completeRecurrence } from '../../../server/task/recurrence/validate-recurrence.js'
import { cron, told } from './rules.js'

const FROM = Date.parse('2027-03-13T12:00:00Z')
const NEW_YORK = 'America/New_York'

describe('a preview', () => {
  test('shows each due time in the zone and what clock changes make of it', () => {
    expect(preview(cron('30 2 * * *', NEW_YORK), { from: FROM, count: 2 })).toEqual([
      {
        slot: Date.parse('2027-03-14T07:30:00Z'),
        due: Date.parse('2027-03-14T07:30:00Z'),
        mark: 'shifted',
        exact: true,
        localTime: '2027-03-14T03:30:00-04:00',
        missingLocalTime: '2027-03-14T02:30:00',
      },
      {
        slot: Date.parse('2027-03-15T06:30:00Z'),
        due: Date.parse('2027-03-15T06:30:00Z'),
        mark: 'normal',
        exact: true,
        localTime: '2027-03-15T02:30:00-04:00',
      },
    ])
  })

  test('shows a skipped one with its reason, which takes no run of max_runs', () => {
    const rule = cron('30 2 * * *', NEW_YORK, { dstGap: 'skip', maxRuns: 2 })
    expect(
      preview(rule, { from: FROM, count: 9 }).map(({ localTime, mark, skipReason }) => [
        localTime,
        mark,
        skipReason,
      ]),
    ).toEqual([
      ['2027-03-14T03:30:00-04:00', 'skipped', 'dstGap'],
      ['2027-03-15T02:30:00-04:00', 'normal', undefined],
      ['2027-03-16T02:30:00-04:00', 'normal', undefined],
    ])
  })

  test('tells the passes of a repeated hour apart by their offset', () => {
    const rule = cron('30 1 * * *', NEW_YORK, { dstOverlap: 'both' })
    expect(
      preview(rule, { from: Date.parse('2027-11-07T00:00Z'), count: 2 }).map(({ localTime, mark }) => [
        localTime,
        mark,
      ]),
    ).toEqual([
      ['2027-11-07T01:30:00-04:00', 'doubled'],
      ['2027-11-07T01:30:00-05:00', 'doubled'],
    ])
  })

  test('says when a due time is only the earliest possible one', () => {
    const shown = (input: Parameters<typeof completeRecurrence>[0]) =>
      preview(completeRecurrence(input), { from: FROM, count: 3 }).map(
        ({ due, exact }) => `${told(due)} ${exact}`,
      )
    expect(shown({ minIntervalMs: 6_000 })).toEqual([
      '2027-03-13T12:00Z true',
      '2027-03-13T12:00:06Z false',
      '2027-03-13T12:00:12Z false',
    ])
    expect(shown({ delayAfterMs: 500 })).toEqual([
      '2027-03-13T12:00Z true',
      '2027-03-13T12:00:00.500Z false',
      '2027-03-13T12:00:01Z false',
    ])
    expect(shown({ everyMs: 1_000 })).toEqual([
      '2027-03-13T12:00Z true',
      '2027-03-13T12:00:01Z true',
      '2027-03-13T12:00:02Z true',
    ])
  })

  test('shows the jitter that a task of this id will have, and leaves it out for none', () => {
    const rule = cron('0 * * * *', 'UTC', { jitterMs: 600_000 })
    const first = firstSlot(rule, { id: 'report', acceptedAt: FROM })
    const second = nextSlot(rule, { id: 'report', firstDue: FROM }, { slot: first?.slot ?? 0 })
    expect(preview(rule, { id: 'report', from: FROM, count: 2 }).map(({ due }) => due)).toEqual([
      first?.due,
      second?.due,
    ])
    expect(preview(rule, { from: FROM, count: 1 })[0]?.localTime).toBe('2027-03-13T13:00:00+00:00')
  })

  test('starts at the due time asked for, ends at until, and is empty when nothing is left', () => {
    const rule = completeRecurrence({ everyMs: 3_600_000, until: FROM + 7_200_000 })
    const dueTime = FROM + 3_600_000
    expect(preview(rule, { from: FROM, dueTime, count: 9 }).map(({ due }) => told(due))).toEqual([
      '2027-03-13T13:00Z',
      '2027-03-13T14:00Z',
    ])
    expect(preview(rule, { from: FROM + 7_200_001, count: 9 })).toEqual([])
    expect(preview(rule, { from: FROM, count: 0 })).toEqual([])
  })

  test.each([
    ['Asia/Kathmandu', '2027-01-15T09:00:00+05:45'],
    ['America/St_Johns', '2027-01-14T23:45:00-03:30'],
    ['Etc/GMT+5', '2027-01-14T22:15:00-05:00'],
  ])('writes the offset of %s', (zone, localTime) => {
    const rule = cron('* * * * *', zone)
    expect(preview(rule, { from: Date.parse('2027-01-15T03:14Z'), count: 1 })[0]?.localTime).toBe(localTime)
  })
})
