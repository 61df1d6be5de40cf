import type { LogFilter } from '../store/task-store.js'

/** The fields in which two filters differ, by their names in the proto; the order of values means nothing. */
export function differenceOf(one: LogFilter, other: LogFilter): string[] {
  const different: string[] = SETS.filter(([key]) => !sameSet(one[key], other[key])).map(([, name]) => name)
  if (!sameLabels(one.labels, other.labels)) different.push('labels')
  if (one.includeAttempts !== other.includeAttempts) different.push('include_attempts')
  return different
}

const SETS = [
  ['taskIds', 'task_ids'],
  ['handlers', 'handlers'],
  ['outcomes', 'outcomes'],
  ['origins', 'origins'],
] as const

function sameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  if (one.size !== other.size) return false
  for (const value of one) if (!other.has(value)) return false
  return true
}

function sameLabels(one: LogFilter['labels'], other: LogFilter['labels']): boolean {
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && one[name] === other[name])
  )
}
