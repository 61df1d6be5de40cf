import type { Duration } from '../proto/generated/google/protobuf/duration.js'
import { OnConflict, type ScheduleRequest } from '../proto/generated/punctual/v1/scheduler_service.js'
import type { RetryPolicy as RetryMessage, TaskSpec } from '../proto/generated/punctual/v1/task.js'
import type { CallOptions } from './options.js'
import { checkText, refuseField, toJsonText } from './json-input.js'
import { type Recurrence, toRecurrenceMessage } from './recurrence.js'
import { toDuration, toTimestamp } from './wire-time.js'

/** What happens after a failed attempt. */
export interface RetryPolicy {
  /** How many attempts a run may take, the first included: 1 to 1,000. */
  readonly maxAttempts: number
  /** Default 1,000. */
  readonly initialBackoffMs?: number
  /** At least 1, default 2. */
  readonly backoffMultiplier?: number
  /** Default 5 minutes. */
  readonly maxBackoffMs?: number
  /** 0 to 1, default 0.2: the back-off is moved at random by up to this part of it. */
  readonly jitterRatio?: number
  /** Error codes after which no retry is made. */
  readonly nonRetryableCodes?: readonly string[]
}

/** How and when a task is to run. */
export interface TaskOptions {
  /**
   * The caller's own name for the task, 1 to 128 characters of [A-Za-z0-9._:/-]. A second call with the same id and content answers the
   * first task. Left out: the client makes a new one for each call, so that equal calls make separate tasks.
   */
  readonly id?: string
  /** When the (first) run is due; a time that has passed = now. Not together with `delayMs`. */
  readonly dueTime?: Date
  /** Due this long after the server accepts it. Not together with `dueTime`. */
  readonly delayMs?: number
  /** Runs again and again by this rule. */
  readonly recurrence?: Recurrence
  /** Left out: one attempt. */
  readonly retry?: RetryPolicy
  /** How long one attempt may take; default 1 h, 0 = no limit. */
  readonly attemptTimeoutMs?: number
  /** A run that has not started this long after its due time is EXPIRED instead of run late. */
  readonly startWithinMs?: number
  /** −100 to 100, default 0: among due tasks, higher first. */
  readonly priority?: number
  /** Tasks that share a key run one at a time, in due order. */
  readonly concurrencyKey?: string
  /** Never start an attempt twice, even if the server dies while it runs. Not together with `retry`. */
  readonly atMostOnce?: boolean
  /** At most 32; filters of lists and streams match on them. */
  readonly labels?: Readonly<Record<string, string>>
  /**
   * What to do when `id` is known. 'sameSpec' (default): answer the stored task if its spec is the same, else
   * {@link TaskExistsError}. 'keep': always answer it. 'replace': this spec holds from the next run on.
   */
  readonly onConflict?: 'sameSpec' | 'keep' | 'replace'
  /** How long the id is remembered after the task has ended. Default 24 h, for ids that the client makes 10 minutes. */
  readonly rememberIdForMs?: number
}

/** Options of `client.schedule()`. */
export interface ScheduleOptions extends TaskOptions, CallOptions {}

/** An id that the client made is known to nobody else: it matters only while the call may be repeated. */
const REMEMBER_OWN_ID_MS = 10 * 60_000

const ON_CONFLICT = {
  sameSpec: OnConflict.UNSPECIFIED,
  keep: OnConflict.KEEP,
  replace: OnConflict.REPLACE,
} as const

/** Who schedules, and what the client adds of its own. */
export interface RequestMarks {
  /** Made before the first try, so that a repeat after a lost answer is harmless. */
  readonly newId: () => string
  readonly origin: string
}

/**
 * The request for one task.
 *
 * @throws {@link TaskRejectedError} when the input is not JSON; RangeError when a time or a number is not one.
 */
export function toScheduleRequest(
  handler: string,
  input: unknown,
  options: TaskOptions,
  marks: RequestMarks,
): ScheduleRequest {
  const { retry, recurrence, attemptTimeoutMs, startWithinMs } = options
  // '' is no name, as on the wire
  const id = options.id ? checkText(options.id, 'task.id') : marks.newId()
  const rememberMs = options.rememberIdForMs ?? (options.id ? undefined : REMEMBER_OWN_ID_MS)
  // a literal, not create(): this is made for every task, and create() looks at every field twice
  const task: TaskSpec = {
    id,
    handler: checkText(handler, 'task.handler'),
    payload: payloadOf(input),
    when: whenOf(options),
    recurrence: recurrence && toRecurrenceMessage(recurrence),
    retry: retry && retryOf(retry),
    attemptTimeout: spanOf(attemptTimeoutMs, 'attemptTimeoutMs'),
    startWithin: spanOf(startWithinMs, 'startWithinMs'),
    priority: int32(options.priority ?? 0, 'priority'),
    concurrencyKey: checkText(options.concurrencyKey ?? '', 'task.concurrency_key'),
    atMostOnce: options.atMostOnce ?? false,
    labels: options.labels === undefined ? {} : labelsOf(options.labels),
    traceparent: '',
    tracestate: '',
    origin: marks.origin,
    rememberIdFor: spanOf(rememberMs, 'rememberIdForMs'),
  }
  return requestFor(task, options, marks)
}

function requestFor(task: TaskSpec, options: TaskOptions, marks: RequestMarks): ScheduleRequest {
  const onConflict = options.onConflict ?? 'sameSpec'
  if (!Object.hasOwn(ON_CONFLICT, onConflict)) {
    throw new RangeError(`onConflict must be sameSpec, keep or replace, got ${onConflict as string}`)
  }
  // the server remembers the last one of a task, so that a repeated REPLACE after a lost answer replaces once
  const requestId = onConflict === 'replace' ? marks.newId() : ''
  return { task, onConflict: ON_CONFLICT[onConflict], requestId }
}

function payloadOf(input: unknown): TaskSpec['payload'] {
  if (input === undefined) return undefined
  if (input instanceof Uint8Array) {
    return { $case: 'inputBytes', value: Buffer.from(input.buffer, input.byteOffset, input.byteLength) }
  }
  return { $case: 'inputJson', value: toJsonText(input) }
}

function whenOf({ dueTime, delayMs }: TaskOptions): TaskSpec['when'] {
  if (dueTime !== undefined && delayMs !== undefined) {
    throw new RangeError('dueTime and delayMs exclude each other: give one')
  }
  if (dueTime !== undefined) return { $case: 'dueTime', value: toTimestamp(dueTime, 'dueTime') }
  if (delayMs !== undefined) return { $case: 'delay', value: toDuration(delayMs, 'delayMs') }
  return undefined
}

function retryOf(retry: RetryPolicy): RetryMessage {
  return {
    maxAttempts: int32(retry.maxAttempts, 'retry.maxAttempts'),
    initialBackoff: spanOf(retry.initialBackoffMs, 'retry.initialBackoffMs'),
    backoffMultiplier: retry.backoffMultiplier,
    maxBackoff: spanOf(retry.maxBackoffMs, 'retry.maxBackoffMs'),
    jitterRatio: retry.jitterRatio,
    nonRetryableCodes: [...(retry.nonRetryableCodes ?? [])],
  }
}

const spanOf = (ms: number | undefined, option: string): Duration | undefined =>
  ms === undefined ? undefined : toDuration(ms, option)

function labelsOf(labels: Readonly<Record<string, string>>): Record<string, string> {
  const checked: Record<string, string> = {}
  for (const [key, value] of Object.entries(labels)) {
    // such a key would vanish on the way without a word
    if (key === '__proto__') refuseField('task.labels', '__proto__ cannot be the name of a label')
    checked[checkText(key, 'task.labels')] = checkText(value, `task.labels.${key}`)
  }
  return checked
}

/** Encoding would throw a message that nobody can place. */
function int32(value: number, option: string): number {
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 31) return value
  throw new RangeError(`${option} must be a whole number, got ${value}`)
}
