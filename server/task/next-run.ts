import type { Instant } from './instant.js'
import type { TaskResult, Transition } from './result.js'
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
  return { run, dueTime: askedDueTime(spec, now), manual: false }
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
export function afterRun(_task: Task, state: EndState, _now: Instant): Sequel {
  return { endState: state, skipped: [] }
}

/**
 * What a waiting task becomes when its run falls due at `now`, if it is not simply to start: slots of its rhythm that have passed are skipped or caught up with.
 * Undefined: it starts. A one-shot task always does.
 */
export function missedRuns(_task: Task, _now: Instant): Transition | undefined {
  return undefined
}
