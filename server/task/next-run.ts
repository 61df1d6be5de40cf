import type { Instant } from './instant.js'
import { missedSlots } from './missed-slots.js'
import { firstSlot } from './recurrence/slots.js'
import type { TaskResult, Transition } from './result.js'
import { afterSeriesRun, isRecurring } from './series.js'
import type { TaskSpec } from './task-spec.js'
import type { EndState, Series, Task } from './task.js'

/** A run that is to come. */
export interface RunStart {
  readonly run: number
  readonly dueTime: Instant
  /** Started by RunNow, beside the rhythm. */
  readonly manual: boolean
  readonly series?: Series
}

/** What follows a run that has its result. */
export interface Sequel {
  /** Absent: the task ends, in `endState`. */
  readonly next?: RunStart
  readonly endState: EndState
  /** Runs that did not take place in between: SKIPPED results, in order. */
  readonly skipped: readonly TaskResult[]
}

/**
 * The first run of a task that is accepted at `now`: a due time that has passed becomes the instant of acceptance.
 *
 * @param run - Its number: 1, or more when the spec replaces an earlier one.
 */
export function firstRun(spec: TaskSpec, now: Instant, run = 1): RunStart {
  const dueTime = askedDueTime(spec, now)
  if (!spec.recurrence) return { run, dueTime, manual: false }
  const first = firstSlot(spec.recurrence, { id: spec.id, acceptedAt: now, dueTime })
  // A rule without any run is refused at the door; a replacement whose last slot passed while it waited runs once more, now.
  const { slot, due } = first ?? { slot: dueTime, due: dueTime }
  return { run, dueTime: due, manual: false, series: freshSeries(slot) }
}

/** Whether a spec that is accepted at `now` has any run at all: `until` may come before the first. */
export function everRuns(spec: TaskSpec, now: Instant): boolean {
  const { id, recurrence } = spec
  return (
    !recurrence ||
    firstSlot(recurrence, { id, acceptedAt: now, dueTime: askedDueTime(spec, now) }) !== undefined
  )
}

/** A series that begins with `slot`. */
function freshSeries(slot: Instant): Series {
  return { firstDue: slot, slot, startedRuns: 0, lastStart: 0, lastState: 'expired', manualWaits: false }
}

/** The instant that the caller's `when` means at `now`. */
export function askedDueTime({ when }: TaskSpec, now: Instant): Instant {
  switch (when.kind) {
    case 'now':
      return now
    case 'at':
      return Math.max(now, when.dueTime)
    case 'after':
      return now + when.delayMs
  }
}

/** What follows now that the task's current run ended in `state`. A one-shot task ends with its run. */
export function afterRun(task: Task, state: EndState, now: Instant): Sequel {
  return isRecurring(task) ? afterSeriesRun(task, state, now) : { endState: state, skipped: [] }
}

/**
 * What a waiting task becomes when its run falls due at `now`, if it is not simply to start: slots of its rhythm that have passed are skipped or caught up with.
 * Undefined: it starts. A one-shot task always does.
 */
export function missedRuns(task: Task, now: Instant): Transition | undefined {
  return isRecurring(task) ? missedSlots(task, now) : undefined
}
