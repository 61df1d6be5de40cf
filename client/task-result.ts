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

const CANCEL_STAGES: Partial<Record<CancelStage, Cancelled['cancelStage']>> = {
  [CancelStage.COOPERATIVE]: 'cooperative',
  [CancelStage.TERMINATED]: 'terminated',
}

const SKIP_REASONS: Partial<Record<SkipReason, Skipped['skipReason']>> = {
  [SkipReason.OVERLAP]: 'overlap',
  [SkipReason.PAUSED]: 'paused',
  [SkipReason.DST_GAP]: 'dstGap',
}

/** A result in the making. */
type Draft = { -readonly [Key in keyof ResultFacts]: ResultFacts[Key] } & {
  outcome: ResultOutcome
  output?: unknown
  error?: AttemptFailure
  cancelStage?: Cancelled['cancelStage']
  skipReason?: Skipped['skipReason']
  skippedCount?: number
}

/** The plain form of an entry of the log. Names and outputs are what the caller's type of the handlers says; nothing checks them here. */
export function toTaskResult(message: ResultMessage): TaskResult {
  const draft = draftOf(message)
  switch (message.outcome) {
    case Outcome.SUCCEEDED:
      draft.outcome = 'succeeded'
      draft.output = outputOf(message)
      break
    case Outcome.TIMED_OUT:
      draft.outcome = 'timedOut'
      break
    case Outcome.CANCELLED:
      draft.outcome = 'cancelled'
      draft.cancelStage = CANCEL_STAGES[message.cancelStage] ?? 'neverStarted'
      break
    case Outcome.EXPIRED:
      draft.outcome = 'expired'
      break
    case Outcome.SKIPPED:
      draft.outcome = 'skipped'
      draft.skipReason = SKIP_REASONS[message.skipReason] ?? 'missed'
      draft.skippedCount = Number(message.skippedCount)
      break
    case Outcome.FAILED:
    case Outcome.UNSPECIFIED:
    case Outcome.UNRECOGNIZED:
  }
  if (message.error !== undefined) draft.error = { ...message.error }
  return draft as TaskResult
}

/** How an attempt failed, or nothing. */
export function toAttemptFailure(error: TaskError | undefined): AttemptFailure | undefined {
  return error && { ...error }
}

/** One object, filled in place: spreading facts into a second one costs more than all of its values. */
function draftOf(message: ResultMessage): Draft {
  const { dueTime, startTime, endTime, commitTime } = message
  const due = dueTime === undefined ? 0 : toMillis(dueTime)
  const end = endTime === undefined ? 0 : toMillis(endTime)
  const draft: Draft = {
    kind: message.kind === ResultKind.ATTEMPT ? 'attempt' : 'result',
    outcome: 'failed',
    sequence: Number(message.sequence),
    taskId: message.taskId,
    handler: message.handler,
    run: Number(message.run),
    attempts: message.attempts,
    interruptedAttempts: message.interruptedAttempts,
    dueTime: new Date(Math.floor(due)),
    endTime: new Date(Math.floor(end)),
    workerId: message.workerId,
    labels: message.labels,
    traceId: message.traceId,
    origin: message.origin,
    last: message.last,
    manual: message.manual,
  }
  if (commitTime !== undefined) draft.commitTime = toDate(commitTime)
  if (startTime !== undefined) {
    const start = toMillis(startTime)
    draft.startTime = new Date(Math.floor(start))
    draft.latenessMs = difference(start, due)
    draft.durationMs = difference(end, start)
  }
  return draft
}

/** Subtraction of large numbers leaves dust below the microsecond. */
const difference = (later: number, earlier: number): number => Math.round((later - earlier) * 1_000) / 1_000

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
