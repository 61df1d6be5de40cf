import type { NotSucceeded } from './task-result.js'

/** What is known of a failed call. */
export interface ErrorFacts {
  readonly message: string
  /** Name of the gRPC status, such as NOT_FOUND; left out for what the client itself found. */
  readonly code?: string
  /** The server's own reason, such as TASK_NOT_FOUND; '' when there is none. */
  readonly reason?: string
  /** Facts that go with the reason. */
  readonly metadata?: Readonly<Record<string, string>>
  readonly violations?: readonly FieldViolation[]
  /** When a retry makes sense, how long to wait first. */
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/** One thing wrong with a request: `field` is its path, such as `task.retry.max_attempts`. */
export interface FieldViolation {
  readonly field: string
  readonly description: string
}

/** What every error of the client is: catch this, and branch on its class or on `reason`. */
export class PunctualError extends Error {
  override readonly name: string = 'PunctualError'
  /** Name of the gRPC status, such as NOT_FOUND; '' for what the client itself found. */
  readonly code: string
  /** The server's own reason, such as TASK_NOT_FOUND; '' when there is none. */
  readonly reason: string
  /** Facts that go with the reason. */
  readonly metadata: Readonly<Record<string, string>>
  /** When a retry makes sense, how long to wait first. */
  readonly retryAfterMs: number | undefined

  constructor(facts: ErrorFacts) {
    super(facts.message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.code = facts.code ?? ''
    this.reason = facts.reason ?? ''
    this.metadata = facts.metadata ?? {}
    this.retryAfterMs = facts.retryAfterMs
  }
}

/** The server refused a request; `violations` names every field, with what is wrong and what would be right. */
export class InvalidRequestError extends PunctualError {
  override readonly name: string = 'InvalidRequestError'
  readonly violations: readonly FieldViolation[]
  constructor(facts: ErrorFacts) {
    super(facts)
    this.violations = facts.violations ?? []
  }
}

/** A task was refused: a bad field, a bad input, or a handler that the server does not have (`reason` UNKNOWN_HANDLER). Nothing of it is stored. */
export class TaskRejectedError extends InvalidRequestError {
  override readonly name = 'TaskRejectedError'
}

/** The id belongs to a task with another spec. `onConflict: 'keep'` would answer that task, `'replace'` would change it. */
export class TaskExistsError extends PunctualError {
  override readonly name = 'TaskExistsError'
}

/** No task with this id is known (any more). */
export class TaskNotFoundError extends PunctualError {
  override readonly name = 'TaskNotFoundError'
}

/** The task has ended, so this cannot be done to it; `metadata.state` says how. */
export class TaskEndedError extends PunctualError {
  override readonly name = 'TaskEndedError'
}

/** The server has no room: too many waiting tasks, streams or consumers, or its store has reached its budget. */
export class ServerFullError extends PunctualError {
  override readonly name = 'ServerFullError'
}

/** The place in the result log is not there (any more): removed by retention, of another log, or never given out. */
export class CursorLostError extends PunctualError {
  override readonly name = 'CursorLostError'
}

/** Another stream of the same durable consumer took over. */
export class ConsumerTakenOverError extends PunctualError {
  override readonly name = 'ConsumerTakenOverError'
}

/** The durable consumer was made with another filter; `metadata.differs_in` names the fields. */
export class ConsumerMismatchError extends PunctualError {
  override readonly name = 'ConsumerMismatchError'
}

/** No durable consumer of this name is known (any more): it was deleted. */
export class ConsumerNotFoundError extends PunctualError {
  override readonly name = 'ConsumerNotFoundError'
}

/** The server cannot be reached, is stopping, or cannot store at present. Of a call that would change something, it may or may not have happened. */
export class UnavailableError extends PunctualError {
  override readonly name = 'UnavailableError'
}

/** The server does not know this call or field: it is older than this client. */
export class NotBuiltError extends PunctualError {
  override readonly name = 'NotBuiltError'
}

/** The call took longer than its deadline. */
export class DeadlineExceededError extends PunctualError {
  override readonly name = 'DeadlineExceededError'
}

/** The caller's signal ended the call; `cause` is the signal's reason. Its `name` is AbortError, as everywhere in Node. */
export class CallAbortedError extends PunctualError {
  override readonly name = 'AbortError'
  constructor(signal: Pick<AbortSignal, 'reason'>, message = 'the call was aborted by its signal') {
    super({ message, cause: signal.reason })
  }
}

/** The client has been closed. */
export class ClientClosedError extends PunctualError {
  override readonly name = 'ClientClosedError'
  constructor(message = 'the client is closed: make a new one with createClient()') {
    super({ message })
  }
}

/** The task (or the run that was waited for) ended, but not well: failed, timed out, cancelled, expired or skipped. `result` has it whole. */
export class TaskFailedError extends PunctualError {
  override readonly name = 'TaskFailedError'
  readonly result: NotSucceeded
  constructor(result: NotSucceeded) {
    super({ message: `task '${result.taskId}' (${result.handler}), run ${result.run}: ${ending(result)}` })
    this.result = result
  }
}

function ending(result: NotSucceeded): string {
  switch (result.outcome) {
    case 'failed':
    case 'timedOut': {
      const { code, message } = result.error ?? { code: '', message: '' }
      const how = result.outcome === 'failed' ? 'failed' : 'timed out'
      return `${how}${code === '' ? '' : ` with ${code}`}${message === '' ? '' : `: ${message}`}`
    }
    case 'cancelled':
      return 'was cancelled'
    case 'expired':
      return 'expired: it could not start in time'
    case 'skipped':
      return `was skipped (${result.skipReason}), and no run follows`
  }
}
