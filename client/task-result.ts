import {
  CancelStage,
  Outcome,
  type TaskResult as ResultMessage,
  ResultKind,
  SkipReason,
} from '../proto/generated/punctual/v1/result.js'
import type { TaskError } from '../proto/generated/punctual/v1/task.js'
import { toDate, toMillis } from './wire-time.js'

/** What every entry of the result log says. Plain data: `JSON.stringify` takes it whole. */
export interface ResultFacts<Name extends string = string> {
  /** 'result': a run has ended. 'attempt': an attempt has ended, another follows (only with `includeAttempts`). */
  readonly kind: 'result' | 'attempt'
  /** Position in the log: later entries have larger numbers, with gaps. */
  readonly sequence: number
  readonly taskId: string
  readonly handler: Name
  /** Number of the run within the task: 1, 2, 3 … */
  readonly run: number
  /** Attempts that started, interrupted ones included. For kind 'attempt': the number of this attempt. */
  readonly attempts: number
  /** Of these, attempts that were cut off because the server died or stopped. */
  readonly interruptedAttempts: number
  readonly dueTime: Date
  /** When the last attempt started; left out if none did. */
  readonly startTime?: Date
  readonly endTime: Date
  readonly commitTime?: Date
  /** Start − due time in milliseconds, with microseconds; left out if no attempt started. For a retried run it includes the back-off. */
  readonly latenessMs?: number
  /** End − start of the last attempt in milliseconds, with microseconds. */
  readonly durationMs?: number
  /** Which worker ran the last attempt, such as "thread-2"; '' if none did. */
  readonly workerId: string
  readonly labels: Readonly<Record<string, string>>
  /** Trace of the last attempt; '' if it was not traced. */
  readonly traceId: string
  /** Who scheduled the task. */
  readonly origin: string
  /** This is the task's final result. */
  readonly last: boolean
  /** The run was started by `runNow`. */
  readonly manual: boolean
}

/** How an attempt failed. */
export interface AttemptFailure {
  /** The handler's own code, or one of the server's, such as HANDLER_ERROR, WORKER_EXITED, OUT_OF_MEMORY. */
  readonly code: string
  readonly message: string
  readonly stack: string
  readonly name: string
  readonly cause: string
}

/** The handler returned `output`. */
export interface Succeeded<Name extends string = string, Output = unknown> extends ResultFacts<Name> {
  readonly outcome: 'succeeded'
  readonly output: Output
}

/** The handler threw or took too long, and no attempt was left. */
export interface Failed<Name extends string = string> extends ResultFacts<Name> {
  readonly outcome: 'failed' | 'timedOut'
  readonly error?: AttemptFailure
}

/** Cancelled; `cancelStage` says how far it had come. */
export interface Cancelled<Name extends string = string> extends ResultFacts<Name> {
  readonly outcome: 'cancelled'
  readonly cancelStage: 'neverStarted' | 'cooperative' | 'terminated'
}

/** Not started within `startWithinMs`. */
export interface Expired<Name extends string = string> extends ResultFacts<Name> {
  readonly outcome: 'expired'
}

/** Slots of a recurrence that did not take place: not a failure. */
export interface Skipped<Name extends string = string> extends ResultFacts<Name> {
  readonly outcome: 'skipped'
  readonly skipReason: 'overlap' | 'missed' | 'paused' | 'dstGap'
  /** How many slots this stands for. */
  readonly skippedCount: number
}

/** A run that did not end well. */
export type NotSucceeded<Name extends string = string> =
  | Failed<Name>
  | Cancelled<Name>
  | Expired<Name>
  | Skipped<Name>

/** An entry of the result log. Branch on `outcome`. */
export type TaskResult<Name extends string = string, Output = unknown> =
  | Succeeded<Name, Output>
  | NotSucceeded<Name>

/** Every outcome. */
export type ResultOutcome = TaskResult['outcome']

const CANCEL_STAGES = {
  [CancelStage.COOPERATIVE]: 'cooperative',
  [CancelStage.TERMINATED]: 'terminated',
} as const

const SKIP_REASONS = {
  [SkipReason.OVERLAP]: 'overlap',
  [SkipReason.PAUSED]: 'paused',
  [SkipReason.DST_GAP]: 'dstGap',
} as const

/** The plain form of an entry of the log. Names and outputs are what the caller's type of the handlers says; nothing checks them here. */
export function toTaskResult(message: ResultMessage): TaskResult {
  const facts = resultFacts(message)
  switch (message.outcome) {
    case Outcome.SUCCEEDED:
      return { ...facts, outcome: 'succeeded', output: outputOf(message) }
    case Outcome.TIMED_OUT:
      return { ...facts, outcome: 'timedOut', ...failure(message.error) }
    case Outcome.CANCELLED: {
      const stages: Partial<Record<CancelStage, Cancelled['cancelStage']>> = CANCEL_STAGES
      return { ...facts, outcome: 'cancelled', cancelStage: stages[message.cancelStage] ?? 'neverStarted' }
    }
    case Outcome.EXPIRED:
      return { ...facts, outcome: 'expired' }
    case Outcome.SKIPPED: {
      const reasons: Partial<Record<SkipReason, Skipped['skipReason']>> = SKIP_REASONS
      const skipReason = reasons[message.skipReason] ?? 'missed'
      return { ...facts, outcome: 'skipped', skipReason, skippedCount: Number(message.skippedCount) }
    }
    case Outcome.FAILED:
    case Outcome.UNSPECIFIED:
    case Outcome.UNRECOGNIZED:
      return { ...facts, outcome: 'failed', ...failure(message.error) }
  }
}

/** How an attempt failed, or nothing. */
export function toAttemptFailure(error: TaskError | undefined): AttemptFailure | undefined {
  return error && { ...error }
}

function resultFacts(message: ResultMessage): ResultFacts {
  const { dueTime, startTime, endTime, commitTime } = message
  const due = dueTime === undefined ? 0 : toMillis(dueTime)
  const end = endTime === undefined ? 0 : toMillis(endTime)
  const facts = {
    kind: message.kind === ResultKind.ATTEMPT ? ('attempt' as const) : ('result' as const),
    sequence: Number(message.sequence),
    taskId: message.taskId,
    handler: message.handler,
    run: Number(message.run),
    attempts: message.attempts,
    interruptedAttempts: message.interruptedAttempts,
    dueTime: new Date(Math.floor(due)),
    endTime: new Date(Math.floor(end)),
    ...(commitTime && { commitTime: toDate(commitTime) }),
    workerId: message.workerId,
    labels: message.labels,
    traceId: message.traceId,
    origin: message.origin,
    last: message.last,
    manual: message.manual,
  }
  if (startTime === undefined) return facts
  const start = toMillis(startTime)
  // subtraction of large numbers leaves dust below the microsecond
  const span = (ms: number): number => Math.round(ms * 1_000) / 1_000
  return {
    ...facts,
    startTime: new Date(Math.floor(start)),
    latenessMs: span(start - due),
    durationMs: span(end - start),
  }
}

function outputOf({ payload }: ResultMessage): unknown {
  switch (payload?.$case) {
    case 'outputJson':
      return JSON.parse(payload.value)
    case 'output':
      return payload.value
    case 'outputBytes':
      // a view of its own: a Buffer would turn into {type, data} in JSON and hold the whole message in memory
      return new Uint8Array(payload.value)
    case undefined:
      return undefined
  }
}

const failure = (error: TaskError | undefined): { error?: AttemptFailure } =>
  error === undefined ? {} : { error: { ...error } }
