import type { Instant } from './instant.js'
import type { AttemptError, StopStage } from './outcome.js'
import type { Labels, Payload } from './task-spec.js'
import type { Task } from './task.js'

export type ResultOutcome = 'succeeded' | 'failed' | 'timedOut' | 'cancelled' | 'expired' | 'skipped'
export type SkipReason = 'overlap' | 'missed' | 'paused' | 'dstGap'

/** An entry of the result log: how a run ended or, for kind 'attempt', an attempt that did not end its run. See `punctual.v1.TaskResult`. */
export interface TaskResult {
  readonly kind: 'result' | 'attempt'
  readonly taskId: string
  readonly handler: string
  readonly run: number
  readonly attempts: number
  readonly interruptions: number
  readonly outcome: ResultOutcome
  readonly output: Payload
  readonly error?: AttemptError
  readonly dueTime: Instant
  /** When the last attempt could start at the earliest: the due time, or the end of a back-off. Not stored. */
  readonly notBefore: Instant
  /** Microseconds since 1970; 0 = no attempt started. */
  readonly startTimeUs: number
  readonly endTimeUs: number
  /** '' = no attempt started. */
  readonly workerId: string
  readonly labels: Labels
  /** '' = not traced. */
  readonly traceId: string
  readonly origin: string
  readonly last: boolean
  readonly skipReason?: SkipReason
  readonly skippedCount: number
  readonly cancelStage?: StopStage
  readonly manual: boolean
}

/** A change of one task: its new state, and what the log gets, in one transaction. */
export interface Transition {
  readonly task: Task
  readonly entries: readonly TaskResult[]
}
