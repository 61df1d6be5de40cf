import type { TaskQuery, TaskStore } from '../store/task-store.js'
import { InvalidRequestError, type SchedulerError } from '../task/errors.js'
import type { Task, TaskState } from '../task/task.js'
import { FIXED_LIMITS } from './limits.js'

const PAGE = 1_000
/** A dry run counts no further. */
const MAX_COUNTED = 100_000

export type TaskFilter = Omit<TaskQuery, 'after' | 'limit'>

/** A change of many tasks, and the tasks that it can be done to. */
export interface BulkChange {
  /** States in which a task can be changed. */
  readonly allowed: readonly TaskState[]
  /** States that are meant when a filter names none. */
  readonly meant: readonly TaskState[]
  readonly change: (ids: readonly string[]) => Promise<readonly (Task | SchedulerError)[]>
}

export interface BulkAnswer {
  /** One for each task that was asked to change, in order. */
  readonly answers: readonly { readonly id: string; readonly answer: Task | SchedulerError }[]
  /** Tasks that changed; in a dry run, that would. */
  readonly count: number
}

/** Changes the tasks with these ids; in a dry run only counts those that could be. */
export async function changeByIds(
  store: Pick<TaskStore, 'get'>,
  { allowed, change }: BulkChange,
  ids: readonly string[],
  dryRun: boolean,
): Promise<BulkAnswer> {
  if (!dryRun) return answered(ids, await change(ids))
  const tasks = await store.get(ids)
  return { answers: [], count: tasks.filter((task) => task && allowed.includes(task.state)).length }
}

/**
 * Changes the tasks that match, at most 10,000 a call; in a dry run only counts them.
 *
 * @throws InvalidRequestError when the filter names a state in which the change cannot be done.
 */
export async function changeByFilter(
  store: Pick<TaskStore, 'list'>,
  bulk: BulkChange,
  filter: TaskFilter,
  dryRun: boolean,
  signal: AbortSignal,
): Promise<BulkAnswer> {
  const wrong = filter.states.filter((state) => !bulk.allowed.includes(state))
  if (wrong.length > 0) {
    const description = `may hold ${bulk.allowed.join(', ')}, got ${wrong.join(', ')}`
    throw new InvalidRequestError([{ field: 'filter.states', description }], 'INVALID_REQUEST')
  }
  const wanted = { ...filter, states: filter.states.length > 0 ? filter.states : bulk.meant }
  if (dryRun) {
    let count = 0
    for await (const ids of pages(store, wanted, MAX_COUNTED, signal)) count += ids.length
    return { answers: [], count }
  }
  const ids: string[] = []
  for await (const page of pages(store, wanted, FIXED_LIMITS.maxBatchTasks, signal)) ids.push(...page)
  return answered(ids, ids.length > 0 ? await bulk.change(ids) : [])
}

/** Ids of matching tasks, at most `limit`; ends early when nobody waits any more. */
async function* pages(
  store: Pick<TaskStore, 'list'>,
  filter: TaskFilter,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<string[]> {
  let left = limit
  let after: TaskQuery['after']
  do {
    const page = await store.list({ ...filter, ...(after && { after }), limit: Math.min(PAGE, left) })
    yield page.tasks.map((task) => task.spec.id)
    left -= page.tasks.length
    after = page.next
  } while (after && left > 0 && !signal.aborted)
}

function answered(ids: readonly string[], changed: readonly (Task | SchedulerError)[]): BulkAnswer {
  const answers = changed.map((answer, i) => ({ id: ids[i] ?? '', answer }))
  return { answers, count: changed.filter((answer) => !(answer instanceof Error)).length }
}
