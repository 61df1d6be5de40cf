import type { Payload } from './task-spec.js'

/** How an attempt failed, as plain data: a thrown error loses class and fields when it crosses a thread. */
export interface AttemptError {
  readonly code: string
  readonly message: string
  readonly stack: string
  readonly name: string
  readonly cause: string
}

/** How far a stopped attempt had come. */
export type StopStage = 'neverStarted' | 'cooperative' | 'terminated'

/** How one attempt ended. Every reader must exhaust the kinds. */
export type AttemptOutcome =
  | { readonly kind: 'succeeded'; readonly output: Payload }
  | { readonly kind: 'failed'; readonly error: AttemptError; readonly retryable: boolean }
  | { readonly kind: 'timedOut'; readonly stage: StopStage }
  | { readonly kind: 'cancelled'; readonly stage: StopStage }
  /**
   * Cut off through no fault of its own (our shutdown, a neighbour that killed the shared thread): not counted. `suspect`: it was in a shared thread that
   * died, and nobody knows whose fault that was.
   */
  | { readonly kind: 'interrupted'; readonly reason: string; readonly suspect?: true }

/** Codes that the server itself gives to failures. */
export const ERROR_CODES = {
  handler: 'HANDLER_ERROR',
  timedOut: 'TIMED_OUT',
  workerExited: 'WORKER_EXITED',
  outOfMemory: 'OUT_OF_MEMORY',
  workerCrashed: 'WORKER_CRASHED',
  interrupted: 'INTERRUPTED',
  outputNotStorable: 'OUTPUT_NOT_STORABLE',
  outputTooLarge: 'OUTPUT_TOO_LARGE',
  invalidInput: 'INVALID_INPUT',
} as const
