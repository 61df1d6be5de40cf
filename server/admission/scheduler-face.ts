import type { BlockedReason } from '../scheduler/blocked-reason.js'
import type { SchedulerError } from '../task/errors.js'
import type { Instant } from '../task/instant.js'
import type { Task } from '../task/task.js'
import type { TaskSpec } from '../task/task-spec.js'

export type { BlockedReason }

/** One answer for each id, in order; on disk before it is given. */
export type Changed = Promise<readonly (Task | SchedulerError)[]>

/** What the door needs of the scheduler, the single owner of live state. */
export interface SchedulerFace {
  /** Whether a task with this due time and priority would go into memory at once. */
  wantsNear(notBefore: Instant, priority: number): boolean
  /** Tasks were just stored. @param near - What was said for each: near ones go into memory, the others are found when they are due. */
  accept(tasks: readonly Task[], near: readonly boolean[]): void
  cancel(ids: readonly string[], graceMs: number): Changed
  pause(ids: readonly string[]): Changed
  resume(ids: readonly string[]): Changed
  runNow(ids: readonly string[]): Changed
  retry(ids: readonly string[]): Changed
  replace(requests: readonly { readonly spec: TaskSpec; readonly requestId: string }[]): Changed
  blockedReason(task: Task): BlockedReason | undefined
  snapshot(): { readonly draining: boolean }
}
