/** Times of the executor, in milliseconds of the steady clock. */
export interface ThreadTimes {
  /** How soon a handler that never returns is known to have begun. */
  readonly pollMs: number
  /** Between the signal of a time-out and the use of force. */
  readonly timeoutGraceMs: number
  /** How often shared threads are looked at. */
  readonly watchMs: number
  /** A shared thread whose event loop stands still this long is stopped by force. */
  readonly heartbeatLimitMs: number
  /** A shared thread in which an attempt lingers this long takes no new ones; after as long again it is stopped by force. */
  readonly lingerLimitMs: number
  /** A thread that was stopped by force, and is not gone after this, is given up. */
  readonly terminateLimitMs: number
  /** How long the end of the executor waits for a thread that is in a native call. */
  readonly closeLimitMs: number
  /** A thread for handlers with a memory limit of their own ends after this long without work. */
  readonly idleLimitMs: number
  /** A thread that cannot start is tried again after this, then after twice as long, up to `maxRestartDelayMs`. */
  readonly restartDelayMs: number
  readonly maxRestartDelayMs: number
}

export const THREAD_TIMES: ThreadTimes = Object.freeze({
  pollMs: 20,
  timeoutGraceMs: 1_000,
  watchMs: 1_000,
  heartbeatLimitMs: 5_000,
  lingerLimitMs: 30_000,
  terminateLimitMs: 30_000,
  closeLimitMs: 2_000,
  idleLimitMs: 60_000,
  restartDelayMs: 100,
  maxRestartDelayMs: 10_000,
})
