import type { Instant } from './instant.js'
import type { Recurrence } from './recurrence/recurrence.js'
import type { RetryPolicy } from './retry.js'

/** Input or output as it is kept: JSON stays text, so that the server never parses it again. */
export type Payload =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  /** Of a task whose result is no longer kept: the input was too large to be remembered with its id. `hash` tells it from another. */
  | { readonly kind: 'forgotten'; readonly hash: string }

/** The absent payload, shared. */
export const NO_PAYLOAD: Payload = Object.freeze({ kind: 'none' })

/** When the first run is due, as the caller said it: "same spec" compares this, not the instant that it became. */
export type When =
  | { readonly kind: 'now' }
  | { readonly kind: 'at'; readonly dueTime: Instant }
  | { readonly kind: 'after'; readonly delayMs: number }

export type Labels = Readonly<Record<string, string>>

/** What a caller asked for, complete: every default is filled in. Limits and meaning: `punctual.v1.TaskSpec`. */
export interface TaskSpec {
  readonly id: string
  readonly handler: string
  readonly payload: Payload
  readonly when: When
  readonly recurrence?: Recurrence
  readonly retry: RetryPolicy
  /** 0 = no limit. */
  readonly attemptTimeoutMs: number
  readonly startWithinMs?: number
  readonly priority: number
  /** '' = none. */
  readonly concurrencyKey: string
  readonly atMostOnce: boolean
  readonly labels: Labels
  /** '' = not traced. */
  readonly traceparent: string
  readonly tracestate: string
  readonly origin: string
  readonly rememberIdForMs: number
}
