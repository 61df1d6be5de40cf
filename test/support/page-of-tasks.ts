import type { TaskPage, TaskQuery } from '../../server/store/task-store.js'
import type { Instant } from '../../server/task/instant.js'
import type { Task } from '../../server/task/task.js'

/** The page of a list that a query asks for: what `TaskStore.list` promises, in the plainest way. */
export function pageOf(tasks: readonly Task[], query: TaskQuery): TaskPage {
  const { after, limit, states, handlers, dueFrom = -Infinity, dueBefore = Infinity } = query
  const found = tasks
    .filter(({ state }) => states.length === 0 || states.includes(state))
    .filter(({ spec }) => handlers.length === 0 || handlers.includes(spec.handler))
    .filter(({ spec }) => hasLabels(spec.labels, query.labels))
    .filter(({ dueTime }) => dueTime >= dueFrom && dueTime < dueBefore)
    .filter((task) => !after || isAfter(task, after))
    .toSorted((a, b) => a.dueTime - b.dueTime || (a.spec.id < b.spec.id ? -1 : 1))
  const page = found.slice(0, limit)
  const last = page.at(-1)
  return last && found.length > limit
    ? { tasks: page, next: { dueTime: last.dueTime, id: last.spec.id } }
    : { tasks: page }
}

function hasLabels(
  labels: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(wanted).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
}

function isAfter(
  { dueTime, spec }: Task,
  after: { readonly dueTime: Instant; readonly id: string },
): boolean {
  return dueTime > after.dueTime || (dueTime === after.dueTime && spec.id > after.id)
}
