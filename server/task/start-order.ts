import type { Instant } from './instant.js'

/** One step of priority outweighs this much waiting. */
export const PRIORITY_STEP_MS = 10_000

/**
 * Where a waiting task stands among the due: the smallest key starts first, then the smallest arrival. So equal due times go by priority, and a task is overtaken
 * only by tasks that are due at most (difference of priorities × step) after it.
 *
 * @param notBefore - When its next attempt may start.
 */
export function startKey(notBefore: Instant, priority: number, stepMs: number = PRIORITY_STEP_MS): number {
  return notBefore - priority * stepMs
}
