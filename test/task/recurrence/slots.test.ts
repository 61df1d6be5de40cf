import { describe, expect, test } from 'vitest'
import type { Recurrence } from '../../../server/task/recurrence/recurrence.js'
import { firstSlot, nextRunSlot, nextSlot, pullIn, type Slot } from '../../../server/task/recurrence/slots.js'
import { completeRecurrence } from '../../../server/task/recurrence/validate-recurrence.js'
import { cron, told } from './rules.js'

const NOON = Date.parse('2027-01-01T12:00:00Z')
const SECOND = 1_000
const HOUR = 3_600_000
const every = (everyMs: number, more = {}) => completeRecurrence({ everyMs, ...more })
const minInterval = (minIntervalMs: number) => completeRecurrence({ minIntervalMs })
const delayAfter = (delayAfterMs: number) => completeRecurrence({ delayAfterMs })
const rhythm = { id: 'report', firstDue: NOON }
const dueOf = (slot: Slot | undefined) => (slot ? told(slot.due) : 'none')

describe('the first slot', () => {
  const first = (recurrence: Recurrence, dueTime?: number) =>
    dueOf(firstSlot(recurrence, { id: 'report', acceptedAt: NOON, dueTime }))

  test('of an interval is the due time asked for, else now (C055)', () => {
    for (const recurrence of [every(HOUR), minInterval(HOUR), delayAfter(HOUR)]) {
      expect(first(recurrence)).toBe('2027-01-01T12:00Z')
      expect(first(recurrence, NOON + 5 * SECOND)).toBe('2027-01-01T12:00:05Z')
      expect(first(recurrence, NOON - HOUR)).toBe('2027-01-01T12:00Z')
    }
  })

  test('of cron is the first match after now, or after the due time asked for', () => {
    const daily = cron('0 12 * * *')
    expect(first(daily)).toBe('2027-01-02T12:00Z')
    expect(first(daily, NOON + 30 * HOUR)).toBe('2027-01-03T12:00Z')
    expect(first(daily, NOON - 48 * HOUR)).toBe('2027-01-02T12:00Z')
  })

  test('exists only up to until, inclusive', () => {
    expect(first(every(HOUR, { until: NOON }))).toBe('2027-01-01T12:00Z')
    expect(first(every(HOUR, { until: NOON - 1 }))).toBe('none')
    expect(first(cron('0 12 * * *', 'UTC', { until: NOON + 24 * HOUR }))).toBe('2027-01-02T12:00Z')
    expect(first(cron('0 12 * * *', 'UTC', { until: NOON + 24 * HOUR - 1 }))).toBe('none')
  })

  test('of a cron rule months away is that far away (C004)', () => {
    expect(first(cron('0 0 1 3 *'))).toBe('2027-03-01T00:00Z')
  })
})

describe('the next slot', () => {
  test('of every lies on the grid from the first slot, however late a run was (C045)', () => {
    const late = { slot: NOON + 7 * SECOND, lastStart: NOON + 7_400, lastEnd: NOON + 9_900 }
    expect(dueOf(nextSlot(every(SECOND), rhythm, late))).toBe('2027-01-01T12:00:08Z')
  })

  test('of min_interval is due when the run has ended, but starts are the interval apart', () => {
    const after = (lastEnd: number) =>
      dueOf(nextSlot(minInterval(6 * SECOND), rhythm, { slot: NOON, lastStart: NOON + 500, lastEnd }))
    expect(after(NOON + 2 * SECOND)).toBe('2027-01-01T12:00:06.500Z')
    expect(after(NOON + 8 * SECOND)).toBe('2027-01-01T12:00:08Z')
  })

  test('of delay_after is due that long after the end', () => {
    const last = { slot: NOON, lastStart: NOON, lastEnd: NOON + 3_500 }
    expect(dueOf(nextSlot(delayAfter(SECOND), rhythm, last))).toBe('2027-01-01T12:00:04.500Z')
  })

  test('is counted from the slot when no run started or ended: one that expired, say', () => {
    expect(dueOf(nextSlot(minInterval(SECOND), rhythm, { slot: NOON, lastStart: 0 }))).toBe(
      '2027-01-01T12:00:01Z',
    )
    expect(dueOf(nextSlot(delayAfter(SECOND), rhythm, { slot: NOON }))).toBe('2027-01-01T12:00:01Z')
  })

  test('is a whole millisecond and never early when start and end are finer', () => {
    const last = { slot: NOON, lastStart: NOON + 0.25, lastEnd: NOON + 0.5 }
    expect(nextSlot(minInterval(SECOND), rhythm, last)?.due).toBe(NOON + 1_001)
    expect(nextSlot(delayAfter(SECOND), rhythm, last)?.due).toBe(NOON + 1_001)
  })

  test('does not exist past until or after max_runs started runs', () => {
    const until = every(HOUR, { until: NOON + HOUR })
    expect(dueOf(nextSlot(until, rhythm, { slot: NOON }))).toBe('2027-01-01T13:00Z')
    expect(dueOf(nextSlot(until, rhythm, { slot: NOON + HOUR }))).toBe('none')
    const twice = every(HOUR, { maxRuns: 2 })
    expect(dueOf(nextSlot(twice, rhythm, { slot: NOON, startedRuns: 1 }))).toBe('2027-01-01T13:00Z')
    expect(dueOf(nextSlot(twice, rhythm, { slot: NOON + HOUR, startedRuns: 2 }))).toBe('none')
  })

  test('that really runs is told apart from those left out in a gap of the clock', () => {
    const rule = cron('0,30 2 * * *', 'America/New_York', { dstGap: 'skip' })
    const { run, skippedInGap } = nextRunSlot(rule, rhythm, { slot: Date.parse('2027-03-13T12:00Z') })
    expect(dueOf(run)).toBe('2027-03-15T06:00Z')
    expect(skippedInGap).toMatchObject({ count: 2, newest: { slot: Date.parse('2027-03-14T07:30Z') } })
    const shifted = nextRunSlot(cron('0,30 2 * * *', 'America/New_York'), rhythm, {
      slot: Date.parse('2027-03-13T12:00Z'),
    })
    expect(shifted).toMatchObject({ run: { mark: 'shifted' }, skippedInGap: undefined })
  })
})

describe('jitter', () => {
  test('moves due times, not the grid, and never past the next slot', () => {
    const rule = every(SECOND, { jitterMs: 499 })
    let last = firstSlot(rule, { id: 'report', acceptedAt: NOON })
    for (let k = 1; k <= 1_000; k++) {
      const next = nextSlot(rule, rhythm, { slot: last?.slot ?? 0 })
      expect(next?.slot).toBe(NOON + k * SECOND)
      expect((next?.due ?? 0) - (next?.slot ?? 0)).toBeLessThan(499)
      last = next
    }
  })

  test('keeps due times in order where a change of the clock brings slots together', () => {
    // 01:00 and 03:00 are one hour apart on that day, and jitter may be up to an hour
    const rule = cron('0 1,3 * * *', 'America/New_York', { jitterMs: HOUR - 1 })
    const dues: number[] = []
    let slot = Date.parse('2027-03-13T00:00Z')
    for (let i = 0; i < 6; i++) {
      const next = nextSlot(rule, { id: `task-${i % 2}`, firstDue: slot }, { slot })
      slot = next?.slot ?? 0
      dues.push(next?.due ?? 0)
    }
    expect(dues).toEqual(dues.toSorted((a, b) => a - b))
    const ids = Array.from({ length: 50 }, (_, i) => `task-${i}`)
    const spring = ids.map((id) =>
      nextSlot(rule, { id, firstDue: slot }, { slot: Date.parse('2027-03-14T05:00Z') }),
    )
    expect(Math.max(...spring.map((next) => (next?.due ?? 0) - (next?.slot ?? 0)))).toBeLessThan(HOUR / 2)
  })

  test('never moves a run past until', () => {
    const ids = Array.from({ length: 50 }, (_, i) => `task-${i}`)
    const rule = every(HOUR, { jitterMs: HOUR / 3, until: NOON + 60 * SECOND })
    const dues = ids.map((id) => firstSlot(rule, { id, acceptedAt: NOON })?.due ?? 0)
    expect(Math.max(...dues)).toBe(NOON + 60 * SECOND)
    expect(Math.min(...dues)).toBeGreaterThanOrEqual(NOON)
  })
})

describe('a backward step of the clock', () => {
  const stepped = NOON - 2 * HOUR

  test.each([
    ['every', every(HOUR)],
    ['min_interval', minInterval(HOUR)],
    ['delay_after', delayAfter(HOUR)],
  ])('pulls the next due time of %s in to now + interval (C009)', (_, recurrence) => {
    const next = nextSlot(recurrence, rhythm, { slot: NOON, lastStart: NOON, lastEnd: NOON })
    const pulled = next && pullIn(recurrence, rhythm, next, stepped)
    expect(dueOf(pulled?.slot)).toBe('2027-01-01T11:00Z')
  })

  test('starts the grid of every anew, and a second step does so again', () => {
    const next = nextSlot(every(HOUR), rhythm, { slot: NOON })
    const once = next && pullIn(every(HOUR), rhythm, next, stepped + 5)
    const restarted = { id: 'report', firstDue: once?.firstDue ?? 0 }
    expect(dueOf(nextSlot(every(HOUR), restarted, { slot: once?.slot.slot ?? 0 }))).toBe(
      '2027-01-01T12:00:00.005Z',
    )
    const twice = once && pullIn(every(HOUR), restarted, once.slot, stepped - 3 * HOUR)
    expect(dueOf(twice?.slot)).toBe('2027-01-01T08:00Z')
  })

  test.each([
    [
      'the first due time, which is as far away as the caller said',
      every(HOUR),
      { slot: NOON, due: NOON, mark: 'normal' },
      stepped,
    ],
    ['one within reach', every(HOUR), { slot: NOON + HOUR, due: NOON + HOUR, mark: 'normal' }, NOON],
    [
      'a grid when the clock was corrected by less than a second',
      every(HOUR),
      { slot: NOON + HOUR, due: NOON + HOUR, mark: 'normal' },
      NOON - 900,
    ],
    [
      'cron, whose due times are instants',
      cron('0 * * * *'),
      { slot: NOON + HOUR, due: NOON + HOUR, mark: 'normal' },
      stepped,
    ],
  ] as const)('leaves alone %s', (_, recurrence, slot, now) => {
    expect(pullIn(recurrence, rhythm, slot, now)).toEqual({ firstDue: NOON, slot })
  })

  test('runs no cron slot again: the next is after the last that ran (C009)', () => {
    const last = Date.parse('2027-01-01T12:03Z')
    expect(dueOf(nextSlot(cron('* * * * *'), rhythm, { slot: last }))).toBe('2027-01-01T12:04Z')
  })
})
