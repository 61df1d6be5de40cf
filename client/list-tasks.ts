import {
  ListTasksRequest,
  type ListTasksResponse,
  type TaskFilter as FilterMessage,
  TaskView,
} from '../proto/generated/punctual/v1/scheduler_service.js'
import { PunctualError } from './errors.js'
import type { CallOptions } from './options.js'
import { fromTaskState, type TaskInfo, type TaskState, toTaskInfo } from './task-info.js'
import { toTimestamp } from './wire-time.js'

/** Which tasks. Fields are combined with AND, values of one field with OR. */
export interface TaskFilter {
  readonly states?: readonly TaskState[]
  readonly handlers?: readonly string[]
  /** Every one of these labels must have this value. */
  readonly labels?: Readonly<Record<string, string>>
  /** Due at this time or later. */
  readonly dueFrom?: Date
  /** Due before this time. */
  readonly dueBefore?: Date
}

/** Options of `client.list()`; deadline and signal are those of each page. */
export interface ListOptions extends TaskFilter, CallOptions {
  /** Also the input of each task. */
  readonly withInput?: boolean
  /** Tasks a page, 1 to 1,000, default 500. */
  readonly pageSize?: number
}

/**
 * Every task that matches, page by page.
 *
 * @throws PunctualError when the server gives a page's token a second time: the list would never end.
 */
export async function* listTasks(
  fetchPage: (request: ListTasksRequest) => Promise<ListTasksResponse>,
  options: ListOptions,
): AsyncGenerator<TaskInfo, void, void> {
  const request = ListTasksRequest.create({
    pageSize: options.pageSize ?? 500,
    view: options.withInput === true ? TaskView.FULL : TaskView.BASIC,
  })
  request.filter = toTaskFilterMessage(options)
  const seen = new Set<string>()
  for (;;) {
    const { tasks, nextPageToken } = await fetchPage(request)
    for (const task of tasks) yield toTaskInfo(task)
    if (nextPageToken === '') return
    if (seen.has(nextPageToken)) {
      const message = `the server gave the page token '${nextPageToken}' twice: the list would never end`
      throw new PunctualError({ message })
    }
    seen.add(nextPageToken)
    request.pageToken = nextPageToken
  }
}

/** A filter as the wire has it. */
export function toTaskFilterMessage(filter: TaskFilter): FilterMessage {
  return {
    states: (filter.states ?? []).map(fromTaskState),
    handlers: [...(filter.handlers ?? [])],
    labels: { ...filter.labels },
    dueFrom: filter.dueFrom && toTimestamp(filter.dueFrom, 'dueFrom'),
    dueBefore: filter.dueBefore && toTimestamp(filter.dueBefore, 'dueBefore'),
  }
}
