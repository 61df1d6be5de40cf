import { describe, expect, test } from 'vitest'
import { RecurrenceError } from '../../../server/task/recurrence/recurrence-error.js'
import type { RecurrenceInput } from '../../../server/task/recurrence/recurrence.js'
import {
  completeRecurrence,
  validateRecurrence,
} from '../../../server/task/recurrence/validate-recurrence.js'

/** The fields complained about, below `task.recurrence`. */
const fields = (input: RecurrenceInput) => validateRecurrence(input, 'r').map(({ field }) => field)
const HOUR = 3_600_000

describe('a recurrence', () => {
  test('gets the stated defaults: UTC, SKIP, RUN_ONCE, SHIFT, FIRST', () => {
    expect(completeRecurrence({ cron: '0 * * * *' })).toEqual({
      kind: 'cron',
      expression: '0 * * * *',
      timeZone: 'UTC',
      dstGap: 'shift',
      dstOverlap: 'first',
      overlap: 'skip',
      missed: 'runOnce',
    })
    expect(completeRecurrence({ everyMs: HOUR })).toEqual({
      kind: 'every',
      intervalMs: HOUR,
      overlap: 'skip',
      missed: 'runOnce',
    })
    expect(completeRecurrence({ minIntervalMs: 100 })).toEqual({ kind: 'minInterval', intervalMs: 100 })
    expect(completeRecurrence({ delayAfterMs: 100 })).toEqual({ kind: 'delayAfter', delayMs: 100 })
  })

  test('keeps what was picked', () => {
    const picked = { overlap: 'queueOne', missed: 'runAll', maxRuns: 3, until: 5, jitterMs: 7 } as const
    expect(completeRecurrence({ everyMs: HOUR, ...picked })).toEqual({
      kind: 'every',
      intervalMs: HOUR,
      ...picked,
    })
  })

  test('says all that is wrong at once, each with its field', () => {
    const violations = validateRecurrence({
      everyMs: 50,
      timeZone: 'EST',
      dstGap: 'skip',
      dstOverlap: 'both',
      maxRuns: 0,
      until: NaN,
      jitterMs: 25,
    })
    expect(new Set(violations.map(({ field }) => field.replace('task.recurrence.', '')))).toEqual(
      new Set(['every', 'time_zone', 'dst_gap', 'dst_overlap', 'max_runs', 'until', 'jitter']),
    )
    for (const { description } of violations) expect(description).not.toBe('')
  })

  test('is thrown back by what is wrong first', () => {
    expect(() => completeRecurrence({ everyMs: 50 })).toThrow('is 50 ms: at least 100 ms')
  })
})

describe('refused is', () => {
  test.each<[string, RecurrenceInput, string[]]>([
    ['no rule', {}, ['r']],
    ['two rules', { everyMs: HOUR, delayAfterMs: HOUR }, ['r']],
    // C054
    ['an interval of zero', { everyMs: 0 }, ['r.every']],
    ['a negative one', { minIntervalMs: -1_000 }, ['r.min_interval']],
    ['one of 1 ns', { delayAfterMs: 0.000_001 }, ['r.delay_after']],
    ['one of 1 ms', { everyMs: 1 }, ['r.every']],
    ['one just too short', { everyMs: 99.999 }, ['r.every']],
    // C010
    ['one that is no number', { everyMs: NaN }, ['r.every']],
    ['one without end', { everyMs: Infinity }, ['r.every']],
    ['one longer than a Duration', { everyMs: 315_576_000_001_000 }, ['r.every']],
    ['one with a fraction of a millisecond', { everyMs: 100.5 }, ['r.every']],
    ['a bad expression', { cron: '60 * * * *' }, ['r.cron']],
    ['a bad zone', { cron: '0 * * * *', timeZone: 'GMT+5' }, ['r.time_zone']],
    ['an empty zone', { cron: '0 * * * *', timeZone: '' }, ['r.time_zone']],
    ['a bad expression and a bad zone', { cron: '@daily', timeZone: 'EST' }, ['r.cron', 'r.time_zone']],
    ['a zone without cron', { everyMs: HOUR, timeZone: 'UTC' }, ['r.time_zone']],
    [
      'a DST policy without cron',
      { everyMs: HOUR, dstGap: 'shift', dstOverlap: 'first' },
      ['r.dst_gap', 'r.dst_overlap'],
    ],
    [
      'policies of slots where no slot can pass',
      { minIntervalMs: HOUR, overlap: 'skip', missed: 'runOnce' },
      ['r.overlap', 'r.missed'],
    ],
    [
      'the same for delay_after',
      { delayAfterMs: HOUR, overlap: 'queueOne', missed: 'skip' },
      ['r.overlap', 'r.missed'],
    ],
    ['an unknown policy', { everyMs: HOUR, missed: 'never' as 'skip' }, ['r.missed']],
    ['no run at all', { everyMs: HOUR, maxRuns: 0 }, ['r.max_runs']],
    ['half a run', { everyMs: HOUR, maxRuns: 1.5 }, ['r.max_runs']],
    ['an end after the year 9999', { everyMs: HOUR, until: 253_402_300_800_000 }, ['r.until']],
    ['negative jitter', { everyMs: HOUR, jitterMs: -1 }, ['r.jitter']],
    ['jitter of half the interval', { everyMs: HOUR, jitterMs: HOUR / 2 }, ['r.jitter']],
    ['the same for min_interval', { minIntervalMs: HOUR, jitterMs: HOUR / 2 }, ['r.jitter']],
    ['the same for delay_after', { delayAfterMs: HOUR, jitterMs: HOUR / 2 }, ['r.jitter']],
  ])('%s', (_, input, expected) => {
    expect(fields(input)).toEqual(expected)
    expect(() => completeRecurrence(input)).toThrow(RecurrenceError)
  })
})

describe('jitter must be below half the shortest distance of two due times', () => {
  test.each([
    ['* * * * *', 60_000],
    ['*/5 * * * * *', 5_000],
    ['0,59 * * * * *', 1_000],
    ['0,45 * * * *', 15 * 60_000],
    ['0 0,23 * * *', HOUR],
    ['59 23 * * *', 24 * HOUR],
    ['0 0 * * MON', 7 * 24 * HOUR],
    ['0 0 1,15 * *', 14 * 24 * HOUR],
    ['0 0 1 * *', 28 * 24 * HOUR],
    ['0 0 1 1 *', 365 * 24 * HOUR],
    ['0 0 31 12,1 *', 31 * 24 * HOUR],
    ['0 0 29 2 *', 1_461 * 24 * HOUR],
    ['0,30 8-17 * * 1-5', 30 * 60_000],
  ])('of %s', (cron, distance) => {
    expect(fields({ cron, jitterMs: distance / 2 - 1 })).toEqual([])
    expect(fields({ cron, jitterMs: distance / 2 })).toEqual(['r.jitter'])
  })
})

describe('accepted is', () => {
  test.each<[string, RecurrenceInput]>([
    ['the shortest interval', { everyMs: 100 }],
    ['the longest', { everyMs: 315_576_000_000_000 }],
    ['a zone that is an alias', { cron: '0 9 * * *', timeZone: 'Asia/Kathmandu' }],
    ['one single run', { cron: '0 9 * * *', maxRuns: 1 }],
    ['no jitter, said explicitly', { everyMs: 100, jitterMs: 0 }],
    ['fields that are there but undefined', { cron: '0 9 * * *', everyMs: undefined, dstGap: undefined }],
  ])('%s', (_, input) => {
    expect(validateRecurrence(input)).toEqual([])
  })
})
