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
}

/**
 * The log entry about the current run of `task`.
 *
 * @param last - No other result of the task will follow.
 */
export function logEntry(kind: TaskResult['kind'], task: Task, facts: EntryFacts, last = false): TaskResult {
  const { spec } = task
  const entry = {
    kind,
    taskId: spec.id,
    handler: spec.handler,
    run: task.run,
    attempts: task.attempts,
    interruptions: task.interruptions,
    outcome: facts.outcome,
    output: facts.output ?? NO_PAYLOAD,
    dueTime: task.dueTime,
    notBefore: task.notBefore,
    startTimeUs: facts.startTimeUs ?? 0,
    endTimeUs: facts.endTimeUs,
    workerId: facts.workerId ?? '',
    labels: spec.labels,
    traceId: facts.traceId ?? '',
    origin: spec.origin,
    last,
    skippedCount: 0,
    manual: task.manual,
  }
  const { error, cancelStage } = facts
  // most have neither: they are spared a copy
  if (error === undefined && cancelStage === undefined) return entry
  return { ...entry, ...(error && { error }), ...(cancelStage && { cancelStage }) }
}

/** The trace of an attempt: its own where the executor gave it one, else the caller's for the first attempt of the first run. */
export function traceOf(task: Task, ending: { readonly traceId?: string }): string {
  if (ending.traceId !== undefined) return ending.traceId
  const { traceparent } = task.spec
  if (traceparent === '' || task.run !== 1 || task.attempts !== 1) return ''
  // traceparent = version - trace id - parent id - flags
  return traceparent.split('-')[1] ?? ''
}
