import type { Instant } from '../instant.js'
import type { Recurrence, SlotMark } from './recurrence.js'
import { firstSlot, nextSlot, type Slot } from './slots.js'
import { missingLocalTime, zonedTime } from './zoned-time.js'

/** A due time to come, for people. */
export interface PreviewEntry {
  readonly slot: Instant
  readonly due: Instant
  readonly mark: SlotMark
  /** Why a `skipped` one does not run. */
  readonly skipReason?: 'dstGap'
  /** False where the due time hangs on how long runs take (`minInterval`, `delayAfter`): then it is the earliest possible one. */
  readonly exact: boolean
  /** `due` on the clocks of the rule's zone, such as 2027-03-14T03:30:00-04:00. */
  readonly localTime: string
  /** Of a `shifted` or `skipped` one: the local time that the rule asks for and that day does not have. */
  readonly missingLocalTime?: string
}

/**
 * The due times that a task with this recurrence would have, were it accepted at `from`: exactly those that the server will use.
 *
 * @param options.id - Task id: jitter hangs on it. Absent: jitter is left out.
 * @param options.dueTime - First due time, as in a task. Default `from`.
 * @param options.count - At most so many; fewer when the series ends before.
 * @example preview(daily, { from: Date.parse('2027-03-13T12:00:00Z'), count: 5 })
 */
export function preview(
  recurrence: Recurrence,
  { id, from, dueTime, count }: { id?: string; from: Instant; dueTime?: Instant | undefined; count: number },
): PreviewEntry[] {
  const { jitterMs: _, ...plain } = recurrence
  const rule: Recurrence = id === undefined ? plain : recurrence
  const taskId = id ?? ''
  const first = firstSlot(rule, { id: taskId, acceptedAt: from, dueTime })
  if (!first) return []
  const entries: PreviewEntry[] = []
  let startedRuns = 0
  let next: Slot | undefined = first
  while (next && entries.length < count) {
    entries.push(entryOf(rule, next, next === first))
    if (next.mark !== 'skipped') startedRuns++
    // Runs that take no time: the earliest that the next can be.
    const last = { slot: next.slot, lastStart: next.due, lastEnd: next.due, startedRuns }
    next = nextSlot(rule, { id: taskId, firstDue: first.slot }, last)
  }
  return entries
}

function entryOf(recurrence: Recurrence, { slot, due, mark }: Slot, isFirst: boolean): PreviewEntry {
  const timeZone = recurrence.kind === 'cron' ? recurrence.timeZone : 'UTC'
  const onGrid = recurrence.kind === 'cron' || recurrence.kind === 'every'
  const moved = mark === 'shifted' || mark === 'skipped'
  return {
    slot,
    due,
    mark,
    exact: onGrid || isFirst,
    localTime: zonedTime(due, timeZone),
    ...(mark === 'skipped' && { skipReason: 'dstGap' as const }),
    ...(moved && { missingLocalTime: missingLocalTime(slot, timeZone) }),
  }
}
