import type { ResultFilter } from '../../proto/generated/punctual/v1/result.js'
import type { TaskFilter } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { ID_PATTERN, ID_RULE } from '../admission/limits.js'
import type { LogFilter } from '../store/task-store.js'
import type { Violation } from '../task/errors.js'
import type { ListFilter } from './page-token.js'
import { OUTCOMES, STATES, wordOf } from './translate-enums.js'
import { toInstant } from './translate-time.js'

const MAX_TASK_IDS = 10_000
const MAX_NAMES = 100
const CONSUMER_PATTERN = /^[A-Za-z0-9._-]{1,63}$/

/** Which entries of the log; no filter = all results. */
export function toLogFilter(
  filter: ResultFilter | undefined,
  includeAttempts: boolean,
  found: Violation[],
): LogFilter {
  const { taskIds = [], handlers = [], labels = {}, outcomes = [], origins = [] } = filter ?? {}
  atMost(MAX_TASK_IDS, taskIds, 'filter.task_ids', found)
  for (const [index, id] of taskIds.entries()) checkId(id, `filter.task_ids[${index}]`, found)
  atMost(MAX_NAMES, handlers, 'filter.handlers', found)
  atMost(MAX_NAMES, origins, 'filter.origins', found)
  return {
    taskIds: new Set(taskIds),
    handlers: new Set(handlers),
    labels,
    outcomes: new Set(words(OUTCOMES, outcomes, 'filter.outcomes', found)),
    origins: new Set(origins),
    includeAttempts,
  }
}

/** A filter as it was given. */
export function fromLogFilter({ taskIds, handlers, labels, outcomes, origins }: LogFilter): ResultFilter {
  return {
    taskIds: [...taskIds],
    handlers: [...handlers],
    labels,
    outcomes: [...outcomes].map((outcome) => OUTCOMES[outcome]),
    origins: [...origins],
  }
}

/** Which tasks; no filter = all. */
export function toListFilter(filter: TaskFilter | undefined, found: Violation[]): ListFilter {
  const { states = [], handlers = [], labels = {}, dueFrom, dueBefore } = filter ?? {}
  atMost(MAX_NAMES, handlers, 'filter.handlers', found)
  const from = dueFrom && toInstant(dueFrom, 'filter.due_from', found)
  const before = dueBefore && toInstant(dueBefore, 'filter.due_before', found)
  return {
    states: words(STATES, states, 'filter.states', found),
    handlers,
    labels,
    ...(from !== undefined && { dueFrom: from }),
    ...(before !== undefined && { dueBefore: before }),
  }
}

/** Adds a violation unless `id` can be the id of a task. */
export function checkId(id: string, field: string, found: Violation[]): void {
  if (!ID_PATTERN.test(id)) found.push({ field, description: `must be an id: ${ID_RULE}` })
}

/** Adds a violation unless `name` can be the name of a durable consumer. */
export function checkConsumer(name: string, field: string, found: Violation[]): void {
  if (CONSUMER_PATTERN.test(name)) return
  found.push({ field, description: 'must be a name: 1 to 63 characters of A-Z a-z 0-9 . _ -' })
}

function atMost(limit: number, values: readonly unknown[], field: string, found: Violation[]): void {
  if (values.length > limit)
    found.push({ field, description: `must be at most ${limit}, got ${values.length}` })
}

function words<Word extends string>(
  numbers: Readonly<Record<Word, number>>,
  wanted: readonly number[],
  field: string,
  found: Violation[],
): Word[] {
  return wanted.flatMap((number, index) => {
    const word = wordOf(numbers, number)
    if (word === undefined) {
      found.push({ field: `${field}[${index}]`, description: `${number} is no value that this server knows` })
    }
    return word === undefined ? [] : [word]
  })
}
