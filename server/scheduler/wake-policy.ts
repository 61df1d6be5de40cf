import type { Instant } from '../task/instant.js'

/** When to look again, given the earliest due time (Infinity: nothing waits). */
export type WakePolicy = (now: Instant, earliestDue: Instant) => Instant

/** Exactly when the next task is due; at once, if that has passed. */
export const exactTimer: WakePolicy = (now, earliestDue) => Math.max(now, earliestDue)

/** On every full multiple of `everyMs`, whether or not a task is due. */
export const ticker =
  (everyMs: number): WakePolicy =>
  (now) =>
    (Math.floor(now / everyMs) + 1) * everyMs
