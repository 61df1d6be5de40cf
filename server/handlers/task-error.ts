/** What a TaskError says beside its message. */
export interface TaskErrorOptions {
  /** For programs: `retry.non_retryable_codes` and callers compare it. At most 128 characters; default HANDLER_ERROR. */
  readonly code?: string
  /** `false`: no further attempt, whatever the task's retry policy says. Default true. */
  readonly retryable?: boolean
  /** What led to it: stored as text. */
  readonly cause?: unknown
}

/**
 * Fails the attempt with a code, and says whether another attempt makes sense. Any other error that a handler throws fails it too, as HANDLER_ERROR (or
 * with the error's own `code`, such as ECONNREFUSED) and retryable.
 *
 * @example throw new TaskError('the card was declined', { code: 'CARD_DECLINED', retryable: false })
 */
export class TaskError extends Error {
  override readonly name = 'TaskError'
  readonly code: string
  readonly retryable: boolean

  constructor(message: string, options: TaskErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = options.code ?? 'HANDLER_ERROR'
    this.retryable = options.retryable ?? true
  }
}
