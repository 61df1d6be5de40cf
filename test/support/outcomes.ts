import type { AttemptOutcome } from '../../server/task/outcome.js'

/** A failure as the executor tells it. */
export function failure(code = 'HANDLER_ERROR', retryable = true): AttemptOutcome {
  return {
    kind: 'failed',
    error: { code, message: `failed with ${code}`, stack: '', name: 'Error', cause: '' },
    retryable,
  }
}
