import { afterSeriesRun, type RunEnd } from './after-series-run.js'
import type { Instant } from './instant.js'
import { missedSlots } from './missed-slots.js'
import type { Transition } from './result.js'
import { isRecurring } from './series.js'
import type { Sequel } from './sequel.js'
import type { EndState, Task } from './task.js'

/** What follows now that the task's current run ended in `state`. A one-shot task ends with its run; so does one that was cancelled. */
export function afterRun(task: Task, state: EndState, end: RunEnd): Sequel {
  if (state === 'cancelled' || !isRecurring(task)) return { kind: 'end', state, skipped: [] }
  return afterSeriesRun(task, state, end)
}

/**
 * What a waiting task becomes when its run falls due at `now`, if it is not simply to start: slots of its rhythm that have passed are skipped or caught up with.
 * Undefined: it starts. A one-shot task always does.
 */
export function missedRuns(task: Task, now: Instant): Transition | undefined {
  return isRecurring(task) ? missedSlots(task, now) : undefined
}
