import type { Violation } from '../errors.js'
import { parseCron } from './cron-expression.js'
import { smallestDistance } from './cron-wall-times.js'
import { RecurrenceError, quoted } from './recurrence-error.js'
import { LAST_DUE_TIME, MIN_INTERVAL_MS, type Recurrence, type RecurrenceInput } from './recurrence.js'
import { checkTimeZone } from './time-zone.js'

const POLICIES = {
  overlap: ['skip', 'queueOne'],
  missed: ['runOnce', 'runAll', 'skip'],
  dstGap: ['shift', 'skip'],
  dstOverlap: ['first', 'last', 'both'],
} as const
const PROTO_NAMES = {
  overlap: 'overlap',
  missed: 'missed',
  dstGap: 'dst_gap',
  dstOverlap: 'dst_overlap',
} as const
const INTERVALS = { everyMs: 'every', minIntervalMs: 'min_interval', delayAfterMs: 'delay_after' } as const
/** 10,000 years, the reach of a protobuf Duration. */
const MAX_INTERVAL_MS = 315_576_000_000_000

/**
 * Everything that is wrong with a recurrence, at once; empty when it is valid.
 *
 * @param path - Where the recurrence stands in the request: `field` of each violation is below it.
 * @example validateRecurrence({ everyMs: 50, dstGap: 'skip' }) // [{ field: 'task.recurrence.every', … }, { field: 'task.recurrence.dst_gap', … }]
 */
export function validateRecurrence(input: RecurrenceInput, path = 'task.recurrence'): Violation[] {
  return [...problems(input)].map(({ field, message }) => ({
    field: field === '' ? path : `${path}.${field}`,
    description: message,
  }))
}

/**
 * The recurrence with its defaults filled in: UTC, SKIP, RUN_ONCE, SHIFT, FIRST.
 *
 * @throws {@link RecurrenceError} for the first thing that is wrong; ask {@link validateRecurrence} for all.
 */
export function completeRecurrence(input: RecurrenceInput): Recurrence {
  for (const problem of problems(input)) throw problem
  const bounds = {
    ...(input.maxRuns !== undefined && { maxRuns: input.maxRuns }),
    ...(input.until !== undefined && { until: input.until }),
    ...(input.jitterMs !== undefined && { jitterMs: input.jitterMs }),
  }
  const policies = { overlap: input.overlap ?? 'skip', missed: input.missed ?? 'runOnce' } as const
  if (input.everyMs !== undefined) return { kind: 'every', intervalMs: input.everyMs, ...policies, ...bounds }
  if (input.minIntervalMs !== undefined)
    return { kind: 'minInterval', intervalMs: input.minIntervalMs, ...bounds }
  if (input.delayAfterMs !== undefined) return { kind: 'delayAfter', delayMs: input.delayAfterMs, ...bounds }
  return {
    kind: 'cron',
    expression: input.cron ?? '',
    timeZone: input.timeZone ?? 'UTC',
    dstGap: input.dstGap ?? 'shift',
    dstOverlap: input.dstOverlap ?? 'first',
    ...policies,
    ...bounds,
  }
}

function* problems(input: RecurrenceInput): Generator<RecurrenceError> {
  yield* ruleProblems(input)
  yield* policyProblems(input)
  yield* boundProblems(input)
  yield* jitterProblems(input)
}

function* ruleProblems(input: RecurrenceInput): Generator<RecurrenceError> {
  const given = [input.cron, input.everyMs, input.minIntervalMs, input.delayAfterMs].filter(
    (rule) => rule !== undefined,
  )
  if (given.length !== 1)
    yield new RecurrenceError(
      '',
      `exactly one of cron, every, min_interval, delay_after is needed, ${given.length || 'none'} given`,
    )
  if (input.cron !== undefined) yield* caught(input.cron, parseCron)
  for (const [key, field] of Object.entries(INTERVALS)) {
    const value = input[key as keyof typeof INTERVALS]
    if (value !== undefined) yield* intervalProblems(field, value)
  }
  if (input.timeZone !== undefined) {
    if (input.cron === undefined)
      yield new RecurrenceError('time_zone', 'is for cron only: intervals know no zone')
    yield* caught(input.timeZone, checkTimeZone)
  }
}

function* intervalProblems(field: string, value: number): Generator<RecurrenceError> {
  if (!(value >= MIN_INTERVAL_MS && value <= MAX_INTERVAL_MS))
    yield new RecurrenceError(
      field,
      `is ${value} ms: at least ${MIN_INTERVAL_MS} ms and at most 10,000 years`,
    )
  else if (!Number.isInteger(value))
    yield new RecurrenceError(field, `is ${value} ms: whole milliseconds only`)
}

function* policyProblems(input: RecurrenceInput): Generator<RecurrenceError> {
  for (const [key, allowed] of Object.entries(POLICIES)) {
    const name = key as keyof typeof POLICIES
    const value: string | undefined = input[name]
    if (value === undefined) continue
    const field = PROTO_NAMES[name]
    if (!(allowed as readonly string[]).includes(value))
      yield new RecurrenceError(field, `is ${quoted(value)}: one of ${allowed.join(', ')}`)
    if (field.startsWith('dst_') && input.cron === undefined)
      yield new RecurrenceError(field, 'is for cron only: intervals are not moved by clock changes')
    if (!field.startsWith('dst_') && input.cron === undefined && input.everyMs === undefined)
      yield new RecurrenceError(
        field,
        'is for cron and every only: the next due time here hangs on the end of the run, so no slot can pass',
      )
  }
}

function* boundProblems({ maxRuns, until }: RecurrenceInput): Generator<RecurrenceError> {
  if (maxRuns !== undefined && !(Number.isSafeInteger(maxRuns) && maxRuns >= 1))
    yield new RecurrenceError('max_runs', `is ${maxRuns}: a whole number from 1; leave it out for no limit`)
  if (until !== undefined && !(Number.isSafeInteger(until) && until <= LAST_DUE_TIME))
    yield new RecurrenceError('until', 'is not an instant before the year 10000')
}

function* jitterProblems(input: RecurrenceInput): Generator<RecurrenceError> {
  const { jitterMs } = input
  if (jitterMs === undefined) return
  if (!(Number.isInteger(jitterMs) && jitterMs >= 0)) {
    yield new RecurrenceError('jitter', `is ${jitterMs} ms: whole milliseconds from 0`)
    return
  }
  const distanceMs = slotDistanceMs(input)
  if (distanceMs !== undefined && jitterMs >= distanceMs / 2)
    yield new RecurrenceError(
      'jitter',
      `is ${jitterMs} ms: it must be below half the shortest distance of two slots, which is ${distanceMs} ms`,
    )
}

/** The shortest distance of two slots; undefined when there is none, or when the rule is wrong anyway. */
function slotDistanceMs(input: RecurrenceInput): number | undefined {
  if (input.cron === undefined) return input.everyMs ?? input.minIntervalMs ?? input.delayAfterMs
  try {
    const distance = smallestDistance(parseCron(input.cron))
    return distance === undefined ? undefined : distance * 1_000
  } catch {
    return undefined
  }
}

function* caught(value: string, check: (value: string) => unknown): Generator<RecurrenceError> {
  try {
    check(value)
  } catch (error) {
    if (!(error instanceof RecurrenceError)) throw error
    yield error
  }
}
