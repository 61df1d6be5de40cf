import type { Instant } from './task/instant.js'

/** A timer that was set. */
export interface Timer {
  /** After this, its function is not called. Harmless when it has fired. */
  cancel(): void
}

/** Time as a value: the only door to wall clock, steady clock and timers. */
export interface Clock {
  /** Wall clock, whole milliseconds. */
  now(): Instant
  /** Wall clock, microseconds since 1970. */
  nowMicros(): number
  /** Steady clock in milliseconds, from an arbitrary origin: for durations. A step of the wall clock does not move it. */
  steady(): number
  /** Calls `fn` once, not before `delayMs` (≥ 0, finite, at most MAX_TIMER_MS) of the steady clock have passed. Does not keep the process alive unless asked to. */
  setTimer(delayMs: number, fn: () => void): Timer
  /**
   * Calls `fn` once when the wall clock has reached `at`, or, within 1.5 s, when it has been stepped: the caller reads the time again. It may also come a
   * little early. Does not keep the process alive.
   */
  setAlarm(at: Instant, fn: () => void): Timer
}

/** Node fires a timer longer than 2^31 − 1 ms, or NaN, after 1 ms; so longer waits are cut here, and callers look again when they wake. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Longest sleep of an alarm: how soon a step of the wall clock is noticed. */
const MAX_SLEEP_MS = 1_000
/** A wall clock that moved this much against the steady one has been stepped, not slewed. */
const STEP_MS = 250

// The wall clock decides the milliseconds, so that a step of it is followed at once; the steady clock gives the microseconds within. The difference between
// the two is known exactly at the moment at which a millisecond begins.
let wallAhead = atMillisecondEdge()

function atMillisecondEdge(): number {
  const before = Date.now()
  // bounded: a test may have stopped the clock
  for (let tries = 0; Date.now() === before && tries < 100_000; tries++);
  return Date.now() - performance.now()
}

function nowMicros(): number {
  const wall = Date.now()
  const within = wallAhead + performance.now() - wall
  if (within < 0) wallAhead -= within
  else if (within > 1.5) {
    // The wall clock was set back. Or this thread was held up between the two readings: then the next ones are good again.
    const ahead = Date.now() - performance.now()
    if (wallAhead - ahead > 1.5) wallAhead = ahead
  }
  return wall * 1_000 + Math.min(999, Math.max(0, Math.floor(within * 1_000)))
}

/**
 * The machine's clock.
 *
 * @example const timer = systemClock.setTimer(1_000, () => look())
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  nowMicros,
  steady: () => performance.now(),
  setTimer(delayMs, fn) {
    if (!(delayMs >= 0)) throw new RangeError(`delayMs must be 0 or more, got ${delayMs}`)
    const until = performance.now() + delayMs
    let timeout = setTimeout(fire, Math.min(Math.ceil(delayMs), MAX_TIMER_MS))
    function fire(): void {
      const left = until - performance.now()
      // A Node timer may fire up to a millisecond early: sleep again.
      if (left > 0) timeout = setTimeout(fire, Math.min(Math.ceil(left), MAX_TIMER_MS))
      else fn()
    }
    return { cancel: () => clearTimeout(timeout) }
  },
  setAlarm(at, fn) {
    const offset = Date.now() - performance.now()
    let timeout: NodeJS.Timeout
    sleep()
    function sleep(): void {
      const sleepMs = Math.min(Math.max(0, at - Date.now()), MAX_SLEEP_MS)
      timeout = setTimeout(wake, sleepMs)
      timeout.unref()
    }
    function wake(): void {
      const now = Date.now()
      const stepped = Math.abs(now - performance.now() - offset) > STEP_MS
      if (now >= at || stepped) fn()
      else sleep()
    }
    return { cancel: () => clearTimeout(timeout) }
  },
}
