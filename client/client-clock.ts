/**
 * Time as the client needs it. It has the shape of the server's clock, so that one virtual clock can drive both in tests.
 */
export interface ClientClock {
  /** Wall clock, milliseconds since 1970. */
  now(): number
  /** Steady clock in milliseconds, from an arbitrary origin: for deadlines and back-offs, which a step of the wall clock must not move. */
  steady(): number
  /** Calls `fn` once when `delayMs` have passed; keeps the process alive until then, since somebody waits for it. */
  setTimer(delayMs: number, fn: () => void): ClientTimer
}

/** A timer that was set. */
export interface ClientTimer {
  /** After this its function is not called. Harmless when it has fired. */
  cancel(): void
}

/**
 * The longest that a call may be told to take. Node fires a timer beyond 2^31 − 1 ms (24.8 days) at once, and grpc-js fails such a
 * deadline at once.
 */
export const MAX_DEADLINE_MS = 24 * 86_400_000

/** The machine's clock. */
export const realClock: ClientClock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  setTimer(delayMs, fn) {
    const timeout = setTimeout(fn, Math.min(Math.max(0, Math.ceil(delayMs)), MAX_DEADLINE_MS))
    return { cancel: () => clearTimeout(timeout) }
  },
}
