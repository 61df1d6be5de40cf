import type { Instant } from './instant.js'
import type { Transition } from './result.js'
import { backoffMs } from './retry.js'
import type { Task } from './task.js'

/**
 * What a waiting task becomes after the wall clock was set back to `now`: a back-off that would now last longer than any back-off of its policy is pulled in.
 * A due time that somebody asked for stays where it is. Undefined: nothing changes.
 */
export function pulledIn(task: Task, now: Instant): Transition | undefined {
  const failed = task.attempts - task.interruptions
  if (task.state !== 'scheduled' || failed === 0) return undefined
  const latest = now + backoffMs(task.spec.retry, failed, 1)
  return task.notBefore > latest ? { task: { ...task, notBefore: latest }, entries: [] } : undefined
}
