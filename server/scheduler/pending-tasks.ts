import type { Instant } from '../task/instant.js'

/**
 * Waiting tasks in memory, by when they are due. A task is named by its place: a small number that the scheduler gives to each task in memory.
 * Each promise is proved for every kind by `test/scheduler/pending-contract.ts`.
 */
export interface PendingTasks {
  readonly size: number
  /** The smallest due time; Infinity when there is none. */
  readonly earliest: Instant
  /** `place` must not be in it. Equal due times come out by `arrival`. */
  add(place: number, dueTime: Instant, arrival: number): void
  /** @returns whether it was in. */
  remove(place: number): boolean
  /** Takes out the task with the smallest due time, then the smallest arrival, if it is due by `now`; else -1. */
  takeDue(now: Instant): number
}
