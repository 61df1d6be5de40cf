import { Outcome } from '../proto/generated/punctual/v1/result.js'
import {
  BlockedReason,
  type Task as TaskMessage,
  type TaskSpec,
  TaskState as StateValue,
} from '../proto/generated/punctual/v1/task.js'
import { fromRecurrenceMessage, type Recurrence } from './recurrence.js'
import type { RetryPolicy } from './schedule-options.js'
import { type AttemptFailure, type ResultOutcome, toAttemptFailure } from './task-result.js'
import { durationMs, toDate } from './wire-time.js'

/** Where a task stands: 'scheduled' and 'running' are live, the others are ends. */
export type TaskState = 'scheduled' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired'

/** A stored task: what was asked for, and where it stands. Plain data: `JSON.stringify` takes it whole. */
export interface TaskInfo<Name extends string = string, Input = unknown> {
  readonly id: string
  readonly handler: Name
  /** Left out of lists unless asked for, and when there is none. */
  readonly input?: Input
  readonly state: TaskState
  /** Number of the current run, or of the last one when the task has ended. */
  readonly run: number
  readonly attempts: number
  readonly interruptedAttempts: number
  /** Due time of the current run, or of the last one when the task has ended. */
  readonly dueTime?: Date
  /** When the next attempt may start; left out when there is none to come. */
  readonly nextDueTime?: Date
  readonly createTime?: Date
  /** When the current attempt started; only while running. */
  readonly startTime?: Date
  readonly paused: boolean
  readonly cancelRequested: boolean
  /** A new spec (`onConflict: 'replace'`) waits for the end of the running run. */
  readonly replacementWaits: boolean
  /** Why it does not start although it is due. */
  readonly blockedReason?: 'handlerMissing' | 'concurrencyKey' | 'handlerLimit' | 'paused'
  readonly lastError?: AttemptFailure
  readonly recurrence?: Recurrence
  readonly retry?: RetryPolicy
  readonly attemptTimeoutMs?: number
  readonly startWithinMs?: number
  readonly priority: number
  readonly concurrencyKey: string
  readonly atMostOnce: boolean
  readonly labels: Readonly<Record<string, string>>
  readonly origin: string
  /** W3C trace context that the task carries; '' when not traced. */
  readonly traceparent: string
}

const STATES: Readonly<Record<TaskState, StateValue>> = {
  scheduled: StateValue.SCHEDULED,
  running: StateValue.RUNNING,
  succeeded: StateValue.SUCCEEDED,
  failed: StateValue.FAILED,
  cancelled: StateValue.CANCELLED,
  expired: StateValue.EXPIRED,
}

const OUTCOMES: Readonly<Record<ResultOutcome, Outcome>> = {
  succeeded: Outcome.SUCCEEDED,
  failed: Outcome.FAILED,
  timedOut: Outcome.TIMED_OUT,
  cancelled: Outcome.CANCELLED,
  expired: Outcome.EXPIRED,
  skipped: Outcome.SKIPPED,
}

const BLOCKED: Partial<Record<BlockedReason, NonNullable<TaskInfo['blockedReason']>>> = {
  [BlockedReason.HANDLER_MISSING]: 'handlerMissing',
  [BlockedReason.CONCURRENCY_KEY]: 'concurrencyKey',
  [BlockedReason.HANDLER_LIMIT]: 'handlerLimit',
  [BlockedReason.PAUSED]: 'paused',
}

/** The state's word; a state of a newer server is taken for a live one. */
export function toTaskState(value: StateValue): TaskState {
  return keyOf(STATES, value) ?? 'scheduled'
}

/** @throws RangeError naming the states. */
export const fromTaskState = (state: TaskState): StateValue => valueOf(STATES, state, 'state')

/** The outcome's word; nothing for one of a newer server. */
export const toOutcome = (value: Outcome): ResultOutcome | undefined => keyOf(OUTCOMES, value)

/** @throws RangeError naming the outcomes. */
export const fromOutcome = (outcome: ResultOutcome): Outcome => valueOf(OUTCOMES, outcome, 'outcome')

/** Can something still happen to it? */
export const isLive = (state: TaskState): boolean => state === 'scheduled' || state === 'running'

/** The plain form of a stored task. */
export function toTaskInfo(task: TaskMessage): TaskInfo {
  const { spec } = task
  const blockedReason = BLOCKED[task.blockedReason]
  const lastError = toAttemptFailure(task.lastError)
  return {
    id: spec?.id ?? '',
    handler: spec?.handler ?? '',
    ...(spec && payload(spec)),
    state: toTaskState(task.state),
    run: Number(task.run),
    attempts: task.attempts,
    interruptedAttempts: task.interruptedAttempts,
    ...dates({
      dueTime: toDate(task.dueTime),
      nextDueTime: toDate(task.nextDueTime),
      createTime: toDate(task.createTime),
      startTime: toDate(task.startTime),
    }),
    paused: task.paused,
    cancelRequested: task.cancelRequested,
    replacementWaits: task.replacementWaits,
    ...(blockedReason && { blockedReason }),
    ...(lastError && { lastError }),
    ...(spec && rules(spec)),
    priority: spec?.priority ?? 0,
    concurrencyKey: spec?.concurrencyKey ?? '',
    atMostOnce: spec?.atMostOnce ?? false,
    labels: spec?.labels ?? {},
    origin: spec?.origin ?? '',
    traceparent: spec?.traceparent ?? '',
  }
}

function rules(
  spec: TaskSpec,
): Pick<TaskInfo, 'recurrence' | 'retry' | 'attemptTimeoutMs' | 'startWithinMs'> {
  const recurrence = fromRecurrenceMessage(spec.recurrence)
  const attemptTimeoutMs = durationMs(spec.attemptTimeout)
  const startWithinMs = durationMs(spec.startWithin)
  return {
    ...(recurrence && { recurrence }),
    ...(spec.retry && { retry: retryOf(spec.retry) }),
    ...(attemptTimeoutMs !== undefined && { attemptTimeoutMs }),
    ...(startWithinMs !== undefined && { startWithinMs }),
  }
}

function retryOf(retry: NonNullable<TaskSpec['retry']>): RetryPolicy {
  const initialBackoffMs = durationMs(retry.initialBackoff)
  const maxBackoffMs = durationMs(retry.maxBackoff)
  return {
    maxAttempts: retry.maxAttempts ?? 1,
    ...(initialBackoffMs !== undefined && { initialBackoffMs }),
    ...(retry.backoffMultiplier !== undefined && { backoffMultiplier: retry.backoffMultiplier }),
    ...(maxBackoffMs !== undefined && { maxBackoffMs }),
    ...(retry.jitterRatio !== undefined && { jitterRatio: retry.jitterRatio }),
    ...(retry.nonRetryableCodes.length > 0 && { nonRetryableCodes: retry.nonRetryableCodes }),
  }
}

function payload({ payload: given }: TaskSpec): { input?: unknown } {
  switch (given?.$case) {
    case 'inputJson':
      return { input: JSON.parse(given.value) as unknown }
    case 'input':
      return { input: given.value }
    case 'inputBytes':
      return { input: new Uint8Array(given.value) }
    case undefined:
      return {}
  }
}

function dates<Names extends string>(
  given: Readonly<Record<Names, Date | undefined>>,
): Partial<Record<Names, Date>> {
  const known: Partial<Record<Names, Date>> = {}
  for (const name of Object.keys(given) as Names[]) {
    const date = given[name]
    if (date !== undefined) known[name] = date
  }
  return known
}

function keyOf<Name extends string>(table: Readonly<Record<Name, number>>, value: number): Name | undefined {
  return (Object.keys(table) as Name[]).find((name) => table[name] === value)
}

function valueOf<Name extends string, Value>(
  table: Readonly<Record<Name, Value>>,
  name: Name,
  what: string,
): Value {
  if (Object.hasOwn(table, name)) return table[name]
  throw new RangeError(`${what} must be one of ${Object.keys(table).join(', ')}; got ${name}`)
}
