import type { TaskState } from './task.js'

/** One thing wrong with a request: `field` is its path in the proto, such as `task.retry.max_attempts`. */
export interface Violation {
  readonly field: string
  readonly description: string
}

/** Every reason that a caller can meet; `rpc/status` gives each its gRPC code. */
export type ErrorReason =
  | 'INVALID_TASK'
  | 'INVALID_REQUEST'
  | 'UNKNOWN_HANDLER'
  | 'TASK_EXISTS'
  | 'TASK_NOT_FOUND'
  | 'TASK_ENDED'
  | 'TOO_MANY_TASKS'
  | 'TOO_MANY_STREAMS'
  | 'STORE_FULL'
  | 'CURSOR_EXPIRED'
  | 'CURSOR_UNKNOWN'
  | 'LOG_REPLACED'
  | 'CONSUMER_TAKEN_OVER'
  | 'CONSUMER_MISMATCH'
  | 'CONSUMER_NOT_FOUND'
  | 'TOO_MANY_CONSUMERS'
  | 'DRAINING'
  | 'STORE_UNAVAILABLE'
  | 'NOT_BUILT'

/** What the domain throws: facts as fields, translated at one edge (`rpc/status`). */
export class SchedulerError extends Error {
  override readonly name: string = 'SchedulerError'
  readonly reason: ErrorReason
  /** Facts for ErrorInfo.metadata. */
  readonly facts: Readonly<Record<string, string>>
  /** When a retry makes sense, how long to wait first. */
  readonly retryAfterMs: number | undefined

  constructor(
    reason: ErrorReason,
    message: string,
    facts: Record<string, string> = {},
    retryAfterMs?: number,
  ) {
    super(message)
    this.reason = reason
    this.facts = facts
    this.retryAfterMs = retryAfterMs
  }
}

/** A request with bad fields: every violation at once. */
export class InvalidRequestError extends SchedulerError {
  override readonly name = 'InvalidRequestError'
  readonly violations: readonly Violation[]

  constructor(
    violations: readonly Violation[],
    reason: 'INVALID_TASK' | 'INVALID_REQUEST' | 'UNKNOWN_HANDLER' = 'INVALID_TASK',
  ) {
    super(reason, violations.map((v) => `${v.field}: ${v.description}`).join('; '))
    this.violations = violations
  }
}

export class TaskNotFoundError extends SchedulerError {
  override readonly name = 'TaskNotFoundError'
  constructor(id: string) {
    super('TASK_NOT_FOUND', `no task with the id '${id}' is known (any more)`, { task_id: id })
  }
}

export class TaskExistsError extends SchedulerError {
  override readonly name = 'TaskExistsError'
  constructor(id: string, different: string) {
    super('TASK_EXISTS', `a task with the id '${id}' exists and its spec differs in: ${different}`, {
      task_id: id,
      differs_in: different,
    })
  }
}

export class TaskEndedError extends SchedulerError {
  override readonly name = 'TaskEndedError'
  constructor(id: string, state: TaskState, wanted: string) {
    super('TASK_ENDED', `the task '${id}' has ended (${state}): it cannot be ${wanted}`, {
      task_id: id,
      state,
    })
  }
}

/** The store cannot commit: nothing was stored. */
export class StoreUnavailableError extends SchedulerError {
  override readonly name = 'StoreUnavailableError'
  constructor(why: string, options?: { cause: unknown }) {
    super(
      'STORE_UNAVAILABLE',
      `the store cannot commit at present: ${why}; nothing of this call was stored`,
      {},
      1_000,
    )
    if (options) this.cause = options.cause
  }
}
