import type { LogEntry, LogFilter } from '../store/task-store.js'

/** Whether a filter lets an entry through: fields are combined with AND, values of one field with OR, an empty field matches all. */
export function matches(filter: LogFilter, entry: LogEntry): boolean {
  if (entry.kind === 'attempt' && !filter.includeAttempts) return false
  if (filter.taskIds.size > 0 && !filter.taskIds.has(entry.taskId)) return false
  if (filter.handlers.size > 0 && !filter.handlers.has(entry.handler)) return false
  if (filter.outcomes.size > 0 && !filter.outcomes.has(entry.outcome)) return false
  if (filter.origins.size > 0 && !filter.origins.has(entry.origin)) return false
  for (const key in filter.labels) if (entry.labels[key] !== filter.labels[key]) return false
  return true
}
