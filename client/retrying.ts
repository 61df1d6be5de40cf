import type { CallScope } from './call-scope.js'
import type { ClientClock } from './client-clock.js'
import { isWorthRetrying, PunctualError } from './errors.js'

/** Back-off between tries: doubled each time up to the cap, then drawn from its upper half, so that many clients do not come back at once. */
export interface BackoffPolicy {
  readonly firstMs: number
  readonly maxMs: number
}

/** For calls: the first retry is soon, since most breaks are short. */
export const CALL_BACKOFF: BackoffPolicy = { firstMs: 50, maxMs: 2_000 }

/** For streams: a server that is down for long is not asked more often than every few seconds. */
export const STREAM_BACKOFF: BackoffPolicy = { firstMs: 100, maxMs: 3_000 }

/**
 * How long to wait before try `failures` + 1.
 *
 * @param failures - Tries that have failed in a row, from 1.
 * @param random - In [0, 1).
 * @param retryAfterMs - What the server asked for; never less is waited.
 */
export function backoffMs(policy: BackoffPolicy, failures: number, random: number, retryAfterMs = 0): number {
  const full = Math.min(policy.maxMs, policy.firstMs * 2 ** (failures - 1))
  return Math.max(retryAfterMs, full * (0.5 + random / 2))
}

/** Waits. Rejects when the scope ends. */
export function pause(clock: ClientClock, ms: number, scope: CallScope): Promise<void> {
  return scope.step((resolve) => {
    const timer = clock.setTimer(ms, () => resolve())
    return () => timer.cancel()
  })
}

/** What retrying needs to know. */
export interface RetryRules {
  readonly clock: ClientClock
  readonly random: () => number
  /** Asked after each failed try: may there be another? */
  readonly mayRetry: (error: PunctualError) => boolean
}

/**
 * Tries a call until it succeeds, fails for good, or its deadline leaves no time for another try.
 *
 * @param tryOnce - One try that may take the given time.
 * @throws the error of the last try: "connection refused" tells more than "deadline exceeded".
 */
export async function retrying<T>(
  tryOnce: (deadlineMs: number) => Promise<T>,
  deadlineMs: number,
  scope: CallScope,
  { clock, random, mayRetry }: RetryRules,
): Promise<T> {
  const endAt = clock.steady() + deadlineMs
  for (let failures = 1; ; failures++) {
    try {
      return await tryOnce(Math.max(1, endAt - clock.steady()))
    } catch (error) {
      if (!(error instanceof PunctualError && isWorthRetrying(error) && mayRetry(error))) throw error
      const waitMs = backoffMs(CALL_BACKOFF, failures, random(), error.retryAfterMs)
      if (clock.steady() + waitMs >= endAt) throw error
      await pause(clock, waitMs, scope)
    }
  }
}
