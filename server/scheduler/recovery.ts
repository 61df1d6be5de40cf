import type { Recovery } from '../store/task-store.js'
import type { Instant } from '../task/instant.js'
import { interrupted } from '../task/interruption.js'
import { cancelWaiting } from '../task/requests.js'
import type { Transition } from '../task/result.js'
import type { Task } from '../task/task.js'

/** A task that was in the hands of the process before. `transition`: what its end means for the task; absent: it simply waits. */
export interface Recovered {
  readonly task: Task
  readonly transition?: Transition
}

/**
 * What becomes of the tasks that the process before had in its hands. What ran is interrupted; after an unclean stop it is also suspect, and a death counts only
 * against a task that was the only suspect to run.
 */
export function recover({ tasks, cleanStop }: Recovery, now: Instant): readonly Recovered[] {
  const suspects = tasks.filter((task) => task.state === 'running' && task.suspicions > 0).length
  const interruption = {
    reason: cleanStop ? 'the server stopped' : 'the server died',
    suspect: !cleanStop,
    alone: suspects === 1,
    endTimeUs: now * 1_000,
    workerId: '',
  }
  return tasks.map((task) => {
    if (task.state === 'running') return { task, transition: interrupted(task, interruption, now) }
    // cancelled while it was handed out, and never begun
    if (task.cancelRequested) return { task, transition: cancelWaiting(task, now) }
    return { task }
  })
}
