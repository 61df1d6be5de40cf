/** What happens after a failed attempt; see `punctual.v1.RetryPolicy`. */
export interface RetryPolicy {
  readonly maxAttempts: number
  readonly initialBackoffMs: number
  readonly backoffMultiplier: number
  readonly maxBackoffMs: number
  readonly jitterRatio: number
  readonly nonRetryableCodes: readonly string[]
}

/** One attempt, and the back-off that would hold if there were more. */
export const DEFAULT_RETRY: RetryPolicy = Object.freeze({
  maxAttempts: 1,
  initialBackoffMs: 1_000,
  backoffMultiplier: 2,
  maxBackoffMs: 5 * 60_000,
  jitterRatio: 0.2,
  nonRetryableCodes: Object.freeze([]),
})

/**
 * How long to wait before the next attempt.
 *
 * @param failed - Attempts that have failed so far, from 1.
 * @param random - In [0, 1); decides where in the jitter band the wait falls.
 * @returns Whole milliseconds: the capped back-off, then moved by ± `jitterRatio`. Never overflows: the cap comes before rounding.
 * @example backoffMs({ ...DEFAULT_RETRY, jitterRatio: 0 }, 3, 0) // 4000
 */
export function backoffMs(policy: RetryPolicy, failed: number, random: number): number {
  const grown = policy.initialBackoffMs * policy.backoffMultiplier ** (failed - 1)
  const capped = Math.min(policy.maxBackoffMs, grown)
  return Math.max(0, Math.round(capped * (1 + policy.jitterRatio * (2 * random - 1))))
}
