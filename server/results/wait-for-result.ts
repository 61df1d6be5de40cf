import type { LogEntry, TaskStore } from '../store/task-store.js'
import { TaskNotFoundError } from '../task/errors.js'
import { isLive, type Task } from '../task/task.js'
import { anyAbort } from './any-abort.js'
import type { ResultLog } from './result-log.js'

/** A task, and the result that was waited for. */
export interface WaitAnswer {
  readonly task: Task
  /** Absent: it had not come when the wait ended. */
  readonly entry?: LogEntry
}

/**
 * Waits for one task's result, without a look at the clock: the caller's signal ends the wait.
 *
 * @param run - Which run; undefined = of a task that has ended, its newest; of a live one, the next to end.
 * @throws TaskNotFoundError when no task with this id is known.
 */
export async function waitForResult(
  log: ResultLog,
  store: Pick<TaskStore, 'get' | 'findResult'>,
  { taskId, run, signal }: { taskId: string; run: number | undefined; signal: AbortSignal },
): Promise<WaitAnswer> {
  const enough = anyAbort(signal)
  try {
    // listens before it looks, so that no result falls between
    const coming = log.nextResult(taskId, run, enough.signal)
    const task = await get(store, taskId)
    const stored = run !== undefined || !isLive(task.state) ? await store.findResult(taskId, run) : undefined
    if (stored) return { task, entry: stored }
    const entry = await coming
    const now = await get(store, taskId)
    return entry ? { task: now, entry } : { task: now }
  } finally {
    enough.release()
    enough.abort()
  }
}

async function get(store: Pick<TaskStore, 'get'>, taskId: string): Promise<Task> {
  const [task] = await store.get([taskId])
  if (!task) throw new TaskNotFoundError(taskId)
  return task
}
