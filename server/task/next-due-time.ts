import { firstRun } from './first-run.js'
import type { Instant } from './instant.js'
import { missedSlots, pausedSlots } from './missed-slots.js'
import { afterRun } from './next-run.js'
import { isLeftOut, isRecurring } from './series.js'
import { afterSequel } from './sequel.js'
import { isLive, type Task } from './task.js'

/**
 * When the next attempt of a task may start, by all that is known at `now`: the end of a back-off, the slot that will really run, what follows if an open run
 * ended now. Undefined: none is to come, or it hangs on when the open run ends.
 */
export function nextDueTime(task: Task, now: Instant): Instant | undefined {
  const { replacement, state } = task
  if (!isLive(state)) return undefined
  if (state === 'scheduled' && !task.cancelRequested) return ofWaiting(task, now)
  if (replacement) return firstRun(replacement.spec, now, task.run + 1, replacement.dueTime)?.dueTime
  return task.cancelRequested ? undefined : afterOpenRun(task, now)
}

function ofWaiting(task: Task, now: Instant): Instant | undefined {
  if (!isLive(task.state)) return undefined
  if (!isRecurring(task)) return task.notBefore
  if (isLeftOut(task)) {
    const instead = missedSlots(task, task.dueTime)
    return instead && ofWaiting(instead.task, now)
  }
  const resumed = task.paused && task.dueTime <= now ? pausedSlots(task, now) : undefined
  return resumed ? ofWaiting(resumed.task, now) : task.notBefore
}

function afterOpenRun(task: Task, now: Instant): Instant | undefined {
  const { recurrence } = task.spec
  const isOnGrid = recurrence?.kind === 'cron' || recurrence?.kind === 'every'
  if (!isOnGrid && !task.series?.manualWaits) return undefined
  return ofWaiting(afterSequel(task, afterRun(task, 'succeeded', { endedAt: now, now }), now), now)
}
