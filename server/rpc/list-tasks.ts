import { Task as WireTask } from '../../proto/generated/punctual/v1/task.js'
import type { TaskStore } from '../store/task-store.js'
import type { Task } from '../task/task.js'
import type { ListFilter, PageKey } from './page-token.js'

const MAX_PAGE_BYTES = 1024 * 1024
/** Tasks read at a time with their payloads, of up to 1 MiB each. */
const FULL_CHUNK = 16

export interface ListWish {
  readonly filter: ListFilter
  readonly after: PageKey | undefined
  readonly size: number
  /** With payloads. */
  readonly full: boolean
}

export interface ListPage {
  readonly tasks: readonly WireTask[]
  /** Where the next page starts; absent: this was the last. */
  readonly next?: PageKey
}

/** One page of tasks: as many as were asked for, or about 1 MiB of them; fewer when the store has looked at many that did not match. */
export async function listTasks(
  store: Pick<TaskStore, 'list'>,
  { filter, after: start, size, full }: ListWish,
  translate: (task: Task) => WireTask,
  signal: AbortSignal,
): Promise<ListPage> {
  const tasks: WireTask[] = []
  let bytes = 0
  let after = start
  while (!signal.aborted) {
    const limit = Math.min(size - tasks.length, full ? FULL_CHUNK : size)
    const page = await store.list({ ...filter, ...(after && { after }), limit })
    for (const task of page.tasks) {
      const wire = translate(task)
      bytes += WireTask.encode(wire).finish().byteLength
      if (tasks.length > 0 && bytes > MAX_PAGE_BYTES) return { tasks, ...(after && { next: after }) }
      tasks.push(wire)
      after = { dueTime: task.dueTime, id: task.spec.id }
    }
    if (!page.next) return { tasks }
    after = page.next
    if (tasks.length >= size || page.tasks.length < limit) break
  }
  return { tasks, ...(after && { next: after }) }
}
