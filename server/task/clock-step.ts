import type { Instant } from './instant.js'
import { pullIn } from './recurrence/slots.js'
import type { Transition } from './result.js'
import { backoffMs } from './retry.js'
import { isRecurring, type RecurringTask, rhythmOf } from './series.js'
import type { Task } from './task.js'

/**
 * What a waiting task becomes after the wall clock was set back to `now`: a back-off that would now last longer than any back-off of its policy is pulled in, and
 * so is the next slot of an interval. What was cut off, or asked for by RunNow, is due now. A due time that somebody asked for stays where it is. Undefined:
 * nothing changes.
 */
export function pulledIn(task: Task, now: Instant): Transition | undefined {
  if (task.state !== 'scheduled') return undefined
  if (task.attempts === 0 && !task.manual) return isRecurring(task) ? slotPulledIn(task, now) : undefined
  const failed = task.attempts - task.interruptions
  const latest = failed > 0 ? now + backoffMs(task.spec.retry, failed, 1) : now
  if (task.notBefore <= latest) return undefined
  const dueTime = task.attempts === 0 ? latest : task.dueTime
  return { task: { ...task, dueTime, notBefore: latest }, entries: [] }
}

/** A slot of an interval that would now be further away than the interval: the rhythm starts anew from here. */
function slotPulledIn(task: RecurringTask, now: Instant): Transition | undefined {
  const { owedThrough: _, ...series } = task.series
  const before = { slot: series.slot, due: task.dueTime, mark: 'normal' as const }
  const { firstDue, slot } = pullIn(task.spec.recurrence, rhythmOf(task), before, now)
  if (slot === before) return undefined
  const pulled = {
    ...task,
    dueTime: slot.due,
    notBefore: slot.due,
    series: { ...series, firstDue, slot: slot.slot },
  }
  return { task: pulled, entries: [] }
}
