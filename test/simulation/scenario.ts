import * as fc from 'fast-check'
import type { RecurrenceInput } from '../../server/task/recurrence/recurrence.js'
import { firstSlot } from '../../server/task/recurrence/slots.js'
import { completeRecurrence } from '../../server/task/recurrence/validate-recurrence.js'
import { DAY, HOUR, MINUTE, SECOND } from '../support/series.js'
import type { Plan } from './plan.js'

/** When and where scenarios begin: on a day like any other, or in the hours before a change of the clocks. */
const PLACES = [
  ['2030-01-01T00:00:00Z', 'UTC'],
  ['2030-03-10T05:30:00Z', 'America/New_York'], // forward at 07:00Z
  ['2030-11-03T04:10:00Z', 'America/New_York'], // back at 06:00Z
  ['2030-04-06T13:00:00Z', 'Australia/Lord_Howe'], // back by half an hour at 15:00Z
  ['2030-10-05T14:00:00Z', 'Australia/Lord_Howe'], // forward by half an hour at 15:30Z
] as const

/** How fast a scenario lives: its intervals, runs, pauses and downtimes are some of these long. */
const UNITS = [SECOND, MINUTE, 30 * MINUTE] as const
type Unit = (typeof UNITS)[number]

const CRON = {
  [SECOND]: ['* * * * * *', '*/5 * * * * *', '3,4,50 * * * * *'],
  [MINUTE]: ['* * * * *', '*/7 * * * *', '5-20/3 1-3 * * *'],
  [30 * MINUTE]: ['30 1,2 * * *', '*/30 1-3 * * *', '0 */2 * * *', '15 2 * * *', '0,45 1-3 * * *'],
} as const

const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 1 })

const times = (unit: number, least: number, most: number): fc.Arbitrary<number> =>
  fc.integer({ min: least * 4, max: most * 4 }).map((quarters) => (quarters * unit) / 4)

/** A plan before it has an instant to count from. */
export type Draft = Omit<Plan, 'recurrence'> & {
  readonly rule: RecurrenceInput | undefined
  readonly untilMs: number | undefined
}

function rules(unit: Unit, timeZone: string): fc.Arbitrary<RecurrenceInput> {
  const maxRuns = optional(fc.integer({ min: 1, max: 6 }))
  const policies = {
    maxRuns,
    overlap: fc.constantFrom('skip', 'queueOne'),
    missed: fc.constantFrom('runOnce', 'runAll', 'skip'),
  } as const
  const jitterOf = (distanceMs: number) => fc.constantFrom(undefined, Math.floor(distanceMs / 3))
  return fc.oneof(
    times(unit, 1, 8).chain((everyMs) =>
      fc.record({ everyMs: fc.constant(everyMs), jitterMs: jitterOf(everyMs), ...policies }),
    ),
    fc.record({
      cron: fc.constantFrom<string>(...(CRON[unit] ?? [])),
      timeZone: fc.constant(timeZone),
      dstGap: fc.constantFrom('shift', 'skip'),
      dstOverlap: fc.constantFrom('first', 'last', 'both'),
      jitterMs: jitterOf(Math.min(unit, 15 * MINUTE)),
      ...policies,
    }),
    fc.record({ minIntervalMs: times(unit, 1, 8), maxRuns }),
    fc.record({ delayAfterMs: times(unit, 1, 8), maxRuns }),
  )
}

function drafts(unit: Unit, timeZone: string): fc.Arbitrary<Draft> {
  return fc.record({
    rule: fc.option(rules(unit, timeZone), { nil: undefined, freq: 6 }),
    untilMs: optional(times(unit, 10, 60)),
    delayMs: fc.oneof(fc.constant(0), times(unit, 0, 6)),
    startWithinMs: optional(times(unit, 0, 3)),
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    backoffMs: times(unit, 1, 2),
    workMs: fc.array(times(unit, 0, 3), { minLength: 1, maxLength: 4 }),
    fails: fc.array(fc.boolean(), { minLength: 1, maxLength: 5 }),
  })
}

/** The plan that a draft is at `now`; undefined: its rule would have no run. */
export function planOf({ rule, untilMs, ...rest }: Draft, id: string, now: number): Plan | undefined {
  if (!rule) return rest
  const until = untilMs === undefined ? undefined : now + untilMs
  const recurrence = completeRecurrence({ ...rule, until })
  const first = firstSlot(recurrence, { id, acceptedAt: now, dueTime: now + rest.delayMs })
  return first && { ...rest, recurrence }
}

/** What can happen to a server, or be asked of it. `pick` chooses one of the tasks so far. */
export type Happening =
  | { readonly kind: 'schedule'; readonly draft: Draft }
  | { readonly kind: 'replace'; readonly pick: number; readonly draft: Draft }
  | { readonly kind: 'pause' | 'resume' | 'runNow' | 'cancel' | 'retry'; readonly pick: number }
  | { readonly kind: 'pass' | 'step'; readonly ms: number }
  | { readonly kind: 'down'; readonly ms: number; readonly stepMs: number }

export interface Scenario {
  readonly startTime: number
  readonly happenings: readonly Happening[]
}

function happenings(unit: Unit, timeZone: string): fc.Arbitrary<readonly Happening[]> {
  const pick = fc.nat(99)
  const steps = fc.oneof(
    times(unit, -40, 40),
    fc.integer({ min: -12, max: 12 }).map((hours) => hours * HOUR),
  )
  const one: fc.Arbitrary<Happening> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('schedule'), draft: drafts(unit, timeZone) }) },
    { weight: 9, arbitrary: fc.record({ kind: fc.constant('pass'), ms: times(unit, 0, 12) }) },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constantFrom('pause', 'resume', 'resume', 'runNow', 'runNow', 'cancel', 'retry'),
        pick,
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('replace'), pick, draft: drafts(unit, timeZone) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('down'),
        ms: fc.oneof(times(unit, 0, 20), fc.constant(Math.min(DAY, 3_000 * unit))),
        stepMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: steps }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('step'), ms: steps }) },
  )
  return fc.array(one, { maxLength: 40, size: 'max' })
}

export const scenarios: fc.Arbitrary<Scenario> = fc
  .tuple(fc.constantFrom(...UNITS), fc.constantFrom(...PLACES))
  .chain(([unit, [start, timeZone]]) =>
    happenings(unit, timeZone).map((all) => ({ startTime: Date.parse(start), happenings: all })),
  )
