import { describe, expect, test } from 'vitest'
import { cronNext, cronRule, type CronDue } from '../../../server/task/recurrence/cron-next.js'
import type { CronRecurrence } from '../../../server/task/recurrence/recurrence.js'
import { bruteForce, clockOf, type ClockReading } from './brute-force.js'
import { cron, told } from './rules.js'
import { ALL_ZONES, DAY, FROM, ODD_ZONES, TO, daysOfChange } from './zones.js'

/** Fixed and real-time rules around every hour in which clocks change. */
const EXPRESSIONS = [
  '30 2 * * *',
  '0 0 * * *',
  '59 23 * * *',
  '0,20,40 0-3,22-23 * * *',
  '15,45 1-3 * * 0,6',
  '5-55/10 0,3,23 1-31 * *',
  '*/15 * * * *',
  '*/10 1 * * 0',
  '30 */2 * * *',
]
const POLICIES = [
  { dstGap: 'shift', dstOverlap: 'first' },
  { dstGap: 'skip', dstOverlap: 'last' },
  { dstGap: 'shift', dstOverlap: 'both' },
] as const

/** The first due time in (after, through] at which the engine and the walk over minutes part. */
function firstDifference(
  recurrence: CronRecurrence,
  after: number,
  through: number,
  clock: ClockReading,
): string | undefined {
  const rule = cronRule(recurrence)
  const expected: readonly (CronDue | undefined)[] = [
    ...bruteForce(recurrence, after, through, clock),
    undefined,
  ]
  let base = after
  for (const wanted of expected) {
    const next = cronNext(rule, base)
    const got = next && next.due <= through ? next : undefined
    if (got?.due !== wanted?.due || got?.mark !== wanted?.mark) {
      const write = (due: CronDue | undefined) => (due ? `${told(due.due)} ${due.mark}` : 'none')
      return `${recurrence.timeZone} "${recurrence.expression}" after ${told(base)}: ${write(got)}, should be ${write(wanted)}`
    }
    base = wanted?.due ?? base
  }
  return undefined
}

/** Asks Intl once for each quarter of an hour: in our days clocks change at no other minutes. */
function rememberingClock(zone: string): ClockReading {
  const clock = clockOf(zone)
  const offsets = new Map<number, number>()
  return (minute) => {
    const quarter = Math.floor(minute / 15)
    let offset = offsets.get(quarter)
    if (offset === undefined) offsets.set(quarter, (offset = clock(quarter * 15) - quarter * 15))
    return minute + offset
  }
}

describe('over the next ten years', () => {
  test('every change of the clock in every zone is handled as a walk over minutes does', () => {
    const wrong: (string | undefined)[] = []
    let changes = 0
    for (const zone of ALL_ZONES) {
      const clock = rememberingClock(zone)
      for (const day of daysOfChange(zone)) {
        changes++
        for (const expression of EXPRESSIONS)
          for (const policies of POLICIES)
            wrong.push(
              firstDifference(cron(expression, zone, policies), day - 1.25 * DAY, day + 0.25 * DAY, clock),
            )
      }
    }
    expect(wrong.filter((found) => found !== undefined)).toEqual([])
    expect(changes).toBeGreaterThan(2_000)
  })

  test.each(ODD_ZONES)('every minute of %s is', (zone) => {
    const clock = rememberingClock(zone)
    const MONTH = 30 * DAY
    const wrong: (string | undefined)[] = []
    for (const expression of ['0,20,40 0-3,22-23 * * *', '*/10 1 * * 0', '30 2 13 * 5'])
      for (let from = FROM; from < TO; from += MONTH)
        wrong.push(firstDifference(cron(expression, zone), from, from + MONTH, clock))
    expect(wrong.filter((found) => found !== undefined)).toEqual([])
  })
})
