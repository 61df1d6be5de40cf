import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countCron } from '../../../server/task/recurrence/cron-count.js'
import { cronNext, cronRule } from '../../../server/task/recurrence/cron-next.js'
import { zoneOffsets } from '../../../server/task/recurrence/zone-offsets.js'
import { MINUTE, bruteForce, clockOf } from './brute-force.js'
import { cron, randomRuns } from './rules.js'
import { ALL_ZONES, DAY, FROM, ODD_ZONES, TO, anyExpression, anyPolicies, daysOfChange } from './zones.js'

const anyZone = fc.oneof(fc.constantFrom(...ALL_ZONES), fc.constantFrom(...ODD_ZONES))
const changes = new Map<string, number[]>()
const changesOf = (zone: string): number[] => {
  const known = changes.get(zone) ?? daysOfChange(zone)
  changes.set(zone, known)
  return known
}

/** A day in ten years, most often one on which the zone's clock changes. */
const anyDay = (zone: string): fc.Arbitrary<number> => {
  const anyOldDay = fc.integer({ min: 0, max: (TO - FROM) / DAY }).map((day) => FROM + day * DAY)
  const days = changesOf(zone)
  return days.length === 0
    ? anyOldDay
    : fc.oneof({ arbitrary: fc.constantFrom(...days), weight: 9 }, anyOldDay)
}
const anyZoneAndDay = anyZone.chain((zone) => fc.record({ zone: fc.constant(zone), day: anyDay(zone) }))

/** These take 1 to 4 s of work each; a busy machine gives them a tenth of its time. */
const BUSY_MACHINE_MS = 90_000

describe('in any zone, for the next ten years', () => {
  test(
    'due times are those of a walk over every minute, from whatever base',
    () => {
      const property = fc.property(
        anyZoneAndDay,
        anyExpression,
        anyPolicies,
        ({ zone, day }, expression, policies) => {
          const recurrence = cron(expression, zone, policies)
          const rule = cronRule(recurrence)
          const after = day - 1.25 * DAY
          const through = day + 0.25 * DAY
          const expected = bruteForce(recurrence, after, through)
          const bases = [after, ...expected.map(({ due }) => due)]

          const fromEachBase = bases.map((base) => cronNext(rule, base))
          expect(fromEachBase.slice(0, -1)).toEqual(expected)
          expect(fromEachBase.at(-1)?.due ?? TO).toBeGreaterThan(through)
          expect(expected.map(({ due }) => cronNext(rule, due - 1))).toEqual(expected)
          const halfway = expected.map(({ due }, i) => Math.floor(((bases[i] ?? 0) + due) / 2))
          expect(halfway.map((base) => cronNext(rule, base))).toEqual(expected)
        },
      )
      fc.assert(property, randomRuns(200))
    },
    BUSY_MACHINE_MS,
  )

  test('counts are exact, over days or years, whatever the density', () => {
    const anyStretch = fc.tuple(fc.integer({ min: FROM, max: TO }), fc.integer({ min: 0, max: 400 * DAY }))
    const property = fc.property(
      anyZone,
      anyExpression,
      anyPolicies,
      anyStretch,
      (zone, expression, policies, [after, length]) => {
        const rule = cronRule(cron(expression, zone, policies))
        const counted = countCron(rule, after, after + length)
        let runs = 0
        let skipped = 0
        let newestSkipped: number | undefined
        let walked = 0
        let next = cronNext(rule, after)
        for (; next && next.due <= after + length && walked < 20_000; walked++) {
          if (next.mark === 'skipped') {
            skipped++
            newestSkipped = next.due
          } else runs++
          next = cronNext(rule, next.due)
        }
        const upTo = walked < 20_000 ? counted : countCron(rule, after, (next?.due ?? 0) - 1)
        expect(upTo).toEqual({ runs, skipped, newestSkipped })
      },
    )
    fc.assert(property, randomRuns(150))
  })

  test('the clock is known to the second', () => {
    const anyInstant = fc.integer({ min: FROM / 1_000, max: TO / 1_000 })
    const nearChange = anyZoneAndDay.chain(({ zone, day }) =>
      fc.record({
        zone: fc.constant(zone),
        second: fc.integer({ min: day / 1_000 - 86_400, max: day / 1_000 }),
      }),
    )
    const anywhere = fc.record({ zone: anyZone, second: anyInstant })
    const property = fc.property(fc.oneof(nearChange, anywhere), ({ zone, second }) => {
      const { start, end, offset, before, after } = zoneOffsets(zone).segmentAt(second)
      const minute = Math.floor(second / 60)
      expect(second).toBeGreaterThanOrEqual(start)
      expect(second).toBeLessThan(end)
      const clock = clockOf(zone)
      const shown = (at: number) => (clock(Math.floor(at / 60)) - Math.floor(at / 60)) * 60
      expect(clock(minute)).toBe(minute + offset / 60)
      const edges = [start - 1, start, end - 1, end].filter(Number.isFinite)
      const offsets = [before, offset, offset, after].filter((_, i) => Number.isFinite(i < 2 ? start : end))
      expect(edges.map(shown)).toEqual(offsets)
    })
    fc.assert(property, randomRuns(300))
  })

  test.each(['30 2 * * *', '0 0 * * *'])(
    '%s is due once for each local day: none is lost, none doubled',
    (expression) => {
      const wrong = ALL_ZONES.flatMap((zone) => daysLostOrDoubled(zone, expression))
      expect(wrong).toEqual([])
    },
    BUSY_MACHINE_MS,
  )
})

/** Follows a daily rule for ten years and counts the local days beside it. */
function daysLostOrDoubled(zone: string, expression: string): string[] {
  const [minute = 0, hour = 0] = expression.split(' ').map(Number)
  const rule = cronRule(cron(expression, zone))
  const clock = clockOf(zone)
  const wrong: string[] = []
  let last = FROM
  let next = cronNext(rule, FROM)
  let day = Math.floor(clock((next?.due ?? 0) / MINUTE) / 1_440)
  for (; next && next.due < TO; day++) {
    // Intl is slow: it is asked once a week, and whenever a day is not 24 hours long. A lost day would show at the latest then.
    if (day % 7 === 0 || next.due - last !== DAY) {
      const late = clock(next.due / MINUTE) - (day * 1_440 + hour * 60 + minute)
      const right = next.mark === 'shifted' ? late > 0 && late <= 180 : next.mark === 'normal' && late === 0
      if (!right) wrong.push(`${zone} ${new Date(next.due).toISOString()} ${next.mark}, ${late} minutes late`)
    }
    last = next.due
    next = cronNext(rule, next.due)
  }
  return wrong
}
