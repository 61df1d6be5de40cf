import type { AttemptError, AttemptOutcome, StopStage } from './outcome.js'
import type { ResultOutcome, TaskResult } from './result.js'
import { NO_PAYLOAD, type Payload } from './task-spec.js'
import type { Task } from './task.js'

/** How an attempt ended, as the executor tells it. */
export interface AttemptEnding {
  readonly outcome: AttemptOutcome
  /** Microseconds since 1970. */
  readonly startTimeUs: number
  readonly endTimeUs: number
  readonly workerId: string
  readonly traceId?: string
}

/** What an entry says beyond the task. */
export interface EntryFacts {
  readonly outcome: ResultOutcome
  readonly output?: Payload
  readonly error?: AttemptError
  /** 0 = no attempt started. */
  readonly startTimeUs?: number
  readonly endTimeUs: number
  readonly workerId?: string
  readonly traceId?: string
  readonly cancelStage?: StopStage
  /** No other result of the task will follow. */
  readonly last?: boolean
}

/** The log entry about the current run of `task`. */
export function logEntry(kind: TaskResult['kind'], task: Task, facts: EntryFacts): TaskResult {
  const { error, cancelStage } = facts
  return {
    kind,
    taskId: task.spec.id,
    handler: task.spec.handler,
    run: task.run,
    attempts: task.attempts,
    interruptions: task.interruptions,
    outcome: facts.outcome,
    output: facts.output ?? NO_PAYLOAD,
    ...(error && { error }),
    dueTime: task.dueTime,
    startTimeUs: facts.startTimeUs ?? 0,
    endTimeUs: facts.endTimeUs,
    workerId: facts.workerId ?? '',
    labels: task.spec.labels,
    traceId: facts.traceId ?? '',
    origin: task.spec.origin,
    last: facts.last ?? false,
    skippedCount: 0,
    ...(cancelStage && { cancelStage }),
    manual: task.manual,
  }
}

/** The trace of an attempt: its own where the executor gave it one, else the caller's for the first attempt of the first run. */
export function traceOf(task: Task, ending: { readonly traceId?: string }): string {
  if (ending.traceId !== undefined) return ending.traceId
  const isFirst = task.run === 1 && task.attempts === 1
  // traceparent = version - trace id - parent id - flags
  return isFirst ? (task.spec.traceparent.split('-')[1] ?? '') : ''
}
