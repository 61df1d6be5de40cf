import { SchedulerError, type ErrorReason } from '../../task/errors.js'
import { StoreOpenError } from '../task-store.js'
import type { Operation } from './operations.js'
import { domainError } from './store-trouble.js'

/** An error as plain data: class and fields do not cross a thread. */
export interface PlainError {
  readonly name: string
  readonly message: string
  readonly stack: string
  /** Of a SchedulerError. */
  readonly reason?: ErrorReason
  readonly facts?: Readonly<Record<string, string>>
  readonly retryAfterMs?: number | undefined
}

export type PlainAnswer = { readonly value: unknown } | { readonly error: PlainError }
export type NumberedAnswer = { readonly id: number } & PlainAnswer

export type ToThread =
  | { readonly kind: 'do'; readonly id: number; readonly operation: Operation }
  | { readonly kind: 'close' }

/**
 * `prepared`: the answers that hold if this commit succeeds, sent before it is made; so whoever outlives the thread knows what became of it. `undone`: it has not
 * succeeded. `done`: these answers, and everything that was prepared up to this commit.
 */
export type FromThread =
  | { readonly kind: 'open'; readonly file: string; readonly commit: number }
  | { readonly kind: 'failedToOpen'; readonly error: PlainError }
  | { readonly kind: 'prepared'; readonly commit: number; readonly answers: readonly NumberedAnswer[] }
  | { readonly kind: 'undone'; readonly commit: number }
  | { readonly kind: 'done'; readonly commit: number; readonly answers: readonly NumberedAnswer[] }
  | { readonly kind: 'closed' }

export function plainError(thrown: unknown): PlainError {
  const error = domainError(thrown instanceof Error ? thrown : new Error(String(thrown)))
  const { name, message, stack = '' } = error
  if (!(error instanceof SchedulerError)) return { name, message, stack }
  const { reason, facts, retryAfterMs } = error
  return { name, message, stack, reason, facts, retryAfterMs }
}

export function errorOf({ name, message, stack, reason, facts, retryAfterMs }: PlainError): Error {
  const error =
    name === 'StoreOpenError'
      ? new StoreOpenError(message)
      : reason
        ? new SchedulerError(reason, message, facts, retryAfterMs)
        : Object.assign(new Error(message), { name })
  error.stack = stack
  return error
}
