import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Recurrence } from '../../../server/task/recurrence/recurrence.js'
import { nextSlot, slotsBetween, type Slot } from '../../../server/task/recurrence/slots.js'
import { completeRecurrence } from '../../../server/task/recurrence/validate-recurrence.js'
import { cron, randomRuns, told } from './rules.js'

const NOON = Date.parse('2027-01-01T12:00:00Z')
const SECOND = 1_000
const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR
const every = (everyMs: number, more = {}) => completeRecurrence({ everyMs, ...more })
const minInterval = (minIntervalMs: number) => completeRecurrence({ minIntervalMs })
const delayAfter = (delayAfterMs: number) => completeRecurrence({ delayAfterMs })
const rhythm = { id: 'report', firstDue: NOON }
const isRun = ({ mark }: Slot): boolean => mark !== 'skipped'
const dueOf = (slot: Slot | undefined) => (slot ? told(slot.due) : 'none')

describe('slots that passed', () => {
  test('are counted exactly and listed from the newest', () => {
    const passed = slotsBetween(every(2 * SECOND), rhythm, {
      after: NOON,
      through: NOON + 30 * SECOND,
      limit: 3,
    })
    expect(passed.count).toBe(15)
    expect(passed.slots.map(dueOf)).toEqual([
      '2027-01-01T12:00:26Z',
      '2027-01-01T12:00:28Z',
      '2027-01-01T12:00:30Z',
    ])
    expect(dueOf(passed.newest)).toBe('2027-01-01T12:00:30Z')
  })

  test('are 31,536,000 after a year without a server, for a rule of every second', () => {
    for (const recurrence of [every(SECOND), cron('* * * * * *', 'America/New_York')]) {
      const { count, newest, slots } = slotsBetween(recurrence, rhythm, { after: NOON, through: NOON + YEAR })
      expect(count).toBe(31_536_000)
      expect(newest?.slot).toBe(NOON + YEAR)
      expect(slots).toHaveLength(1_000)
      expect(slots[0]?.slot).toBe(NOON + YEAR - 999 * SECOND)
    }
  })

  test('leave out those that a gap skips, and say how many', () => {
    // every second by fixed names: 3,600 of them are skipped in spring, unless they meet a regular one; 3,600 come twice in autumn and run once
    const fixed = cron('0-59 0-59 0-2,4-23 * * *', 'America/New_York', { dstGap: 'skip' })
    const { count, skippedInGap } = slotsBetween(fixed, rhythm, { after: NOON, through: NOON + YEAR })
    expect(skippedInGap).toBe(3_600)
    expect(count).toBe(365 * 23 * 3_600 - 3_600)
  })

  test('are as many as the days of a year, however its hours are moved about', () => {
    const count = (expression: string, more: object) => {
      const rule = cron(expression, 'America/New_York', more)
      return slotsBetween(rule, rhythm, { after: NOON, through: NOON + YEAR })
    }
    for (const dstOverlap of ['first', 'last'] as const)
      expect(count('30 1 * * *', { dstOverlap })).toMatchObject({ count: 365, skippedInGap: 0 })
    expect(count('30 1 * * *', { dstOverlap: 'both' })).toMatchObject({ count: 366, skippedInGap: 0 })
    expect(count('30 2 * * *', {})).toMatchObject({ count: 365, skippedInGap: 0 })
    expect(count('30 2 * * *', { dstGap: 'skip' })).toMatchObject({ count: 364, skippedInGap: 1 })
    expect(count('*/30 1 * * *', {})).toMatchObject({ count: 732, skippedInGap: 0 })
    expect(count('*/30 2 * * *', {})).toMatchObject({ count: 728, skippedInGap: 0 })
  })

  test('are none before the first, past until, or for rules without slots of their own', () => {
    const count = (recurrence: Recurrence, after: number, through: number) =>
      slotsBetween(recurrence, rhythm, { after, through }).count
    expect(count(every(SECOND), NOON - HOUR, NOON - 1)).toBe(0)
    expect(count(every(SECOND), NOON, NOON)).toBe(0)
    expect(count(every(SECOND), NOON, NOON - HOUR)).toBe(0)
    expect(count(every(SECOND, { until: NOON + 2 * SECOND }), NOON, NOON + HOUR)).toBe(2)
    expect(count(cron('* * * * *', 'UTC', { until: NOON + 120 * SECOND }), NOON, NOON + HOUR)).toBe(2)
    expect(count(minInterval(SECOND), NOON, NOON + HOUR)).toBe(0)
    expect(count(delayAfter(SECOND), NOON, NOON + HOUR)).toBe(0)
  })

  test('have no newest when there are none', () => {
    expect(slotsBetween(every(SECOND), rhythm, { after: NOON, through: NOON })).toEqual({
      count: 0,
      slots: [],
      skippedInGap: 0,
      through: NOON,
    })
  })

  test('are those of a walk from slot to slot', () => {
    const anyRule = fc.oneof(
      fc
        .integer({ min: 100, max: 5_000_000 })
        .map((interval) => every(interval, { jitterMs: Math.floor(interval / 3) })),
      fc
        .constantFrom('* * * * *', '*/7 2-5 * * *', '30 1,2 * * *', '0 0 * * MON', '0 0 1 * *')
        .map((expression) =>
          cron(expression, 'America/New_York', { jitterMs: 20_000, dstGap: 'skip', dstOverlap: 'both' }),
        ),
    )
    const property = fc.property(
      anyRule,
      fc.integer({ min: 0, max: YEAR }),
      fc.integer({ min: 0, max: 9 * HOUR }),
      (rule, from, length) => {
        const through = NOON + from + length
        const walked: Slot[] = []
        let next = nextSlot(rule, rhythm, { slot: NOON + from })
        for (; next && next.due <= through; next = nextSlot(rule, rhythm, { slot: next.slot }))
          walked.push(next)
        const [runs, inGap] = [walked.filter(isRun), walked.filter((slot) => !isRun(slot))]
        const passed = slotsBetween(rule, rhythm, { after: NOON + from, through, limit: 10 })
        expect(passed.count).toBe(runs.length)
        expect(passed.slots).toEqual(runs.slice(-10))
        expect(passed.newest).toEqual(runs.at(-1))
        expect([passed.skippedInGap, passed.newestInGap]).toEqual([inGap.length, inGap.at(-1)?.due])
        // the walk goes on where the counts stop
        expect(nextSlot(rule, rhythm, { slot: passed.through })).toEqual(next)
      },
    )
    fc.assert(property, randomRuns())
  })

  test('do not yet hold a slot whose jitter lasts', () => {
    const rule = every(HOUR, { jitterMs: HOUR / 3 })
    const next = nextSlot(rule, rhythm, { slot: NOON })
    const due = next?.due ?? 0
    expect(due).toBeGreaterThan(NOON + HOUR)
    expect(slotsBetween(rule, rhythm, { after: NOON, through: due - 1 }).count).toBe(0)
    expect(slotsBetween(rule, rhythm, { after: NOON, through: due })).toMatchObject({
      count: 1,
      newest: next,
    })
  })
})
