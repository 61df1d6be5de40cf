import { ERROR_CODES } from '../task/outcome.js'

/** How a thread ended, told apart from what piscina and Node say of it. */
export interface ThreadEnding {
  readonly code:
    | typeof ERROR_CODES.workerExited
    | typeof ERROR_CODES.outOfMemory
    | typeof ERROR_CODES.workerCrashed
  /** For people; names the original error. */
  readonly message: string
}

/** Piscina's errors carry no codes: these texts are all there is. A test runs into each of them. */
const EXITED = /^worker exited with code: (-?\d+)$/

/**
 * Translates what a piscina run was rejected with.
 *
 * @example endingOf(new Error('worker exited with code: 3')) // { code: 'WORKER_EXITED', message: 'the handler ended its thread (exit code 3)' }
 */
export function endingOf(error: unknown): ThreadEnding {
  if (!(error instanceof Error))
    return { code: ERROR_CODES.workerCrashed, message: `the thread crashed: ${String(error)}` }
  const exited = EXITED.exec(error.message)
  if (exited !== null)
    return {
      code: ERROR_CODES.workerExited,
      message: `the handler ended its worker thread (worker exited with code ${exited[1] ?? ''})`,
    }
  if (Reflect.get(error, 'code') === 'ERR_WORKER_OUT_OF_MEMORY')
    return {
      code: ERROR_CODES.outOfMemory,
      message: `the worker thread ran out of memory (ERR_WORKER_OUT_OF_MEMORY: ${error.message})`,
    }
  return {
    code: ERROR_CODES.workerCrashed,
    message: `the worker thread crashed: ${error.name}: ${error.message}`,
  }
}
