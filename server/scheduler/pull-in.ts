import type { TaskStore } from '../store/task-store.js'
import { pulledIn } from '../task/clock-step.js'
import type { Log } from '../task/log.js'
import type { Changes } from './changes.js'

const PAGE = 1_000

/**
 * After the wall clock was set back: tasks outside memory whose next attempt or run lies further ahead than their rule allows. Walks through all waiting tasks,
 * page by page, beside everything else.
 */
export async function pullInOutside(store: TaskStore, changes: Changes, log: Log): Promise<void> {
  const query = { states: ['scheduled'], handlers: [], labels: {}, limit: PAGE } as const
  let after: { readonly dueTime: number; readonly id: string } | undefined
  let count = 0
  try {
    do {
      const page = await store.list(after ? { ...query, after } : query)
      const now = store.now()
      const late = page.tasks.filter((task) => pulledIn(task, now) !== undefined)
      await Promise.all(late.map(({ spec }) => changes.ask({ id: spec.id, change: pulledIn })))
      count += late.length
      after = page.next
    } while (after)
  } catch (error) {
    log.error('not all tasks could be pulled in after the wall clock was set back: they come late', { error })
  }
  if (count > 0) log.info('tasks were pulled in after the wall clock was set back', { count })
}
