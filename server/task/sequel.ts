import type { Instant } from './instant.js'
import { draftOf } from './draft.js'
import { stateAfter } from './lifecycle.js'
import { type RunStart, withNewRun } from './new-run.js'
import type { TaskResult } from './result.js'
import type { RecurringTask, Step } from './series.js'
import { type Skip, skippedResults } from './skips.js'
import type { EndState, Series, Task } from './task.js'

/** What follows a run that has its result. */
export type Sequel = (
  | { readonly kind: 'run'; readonly start: RunStart }
  /** `last`: the run that the task ends with, if that is another than the current one: a skipped stretch. */
  | { readonly kind: 'end'; readonly state: EndState; readonly series?: Series; readonly last?: RunStart }
) & {
  /** Runs that did not take place in between: SKIPPED results, in order. */
  readonly skipped: readonly TaskResult[]
}

/** The sequel of a series: skipped stretches, each a run of its own, then the step's run, or the end. @param run - Number of the first of them. */
export function sequelOf(
  task: RecurringTask,
  run: number,
  skips: readonly Skip[],
  step: Step,
  now: Instant,
): Sequel {
  const { series } = step
  const skipped = skippedResults(task, run, skips, now)
  if (step.run) {
    const start = { run: run + skips.length, dueTime: step.run.due, manual: false, series }
    return { kind: 'run', start, skipped }
  }
  const last = skipped.at(-1)
  if (!last) return { kind: 'end', state: series.lastState, series, skipped }
  return {
    kind: 'end',
    state: series.lastState,
    series,
    last: { run: last.run, dueTime: last.dueTime, manual: false, series },
    skipped: [...skipped.slice(0, -1), { ...last, last: true }],
  }
}

/** The run that RunNow asked for while another was open: all of the rhythm up to `after` has been dealt with, and is looked at again when this run has ended. */
export function manualSequel(
  task: RecurringTask,
  run: number,
  skips: readonly Skip[],
  { series, after }: { readonly series: Series; readonly after: Instant },
  now: Instant,
): Sequel {
  const start = {
    run: run + skips.length,
    dueTime: now,
    manual: true,
    series: { ...series, slot: after, manualWaits: false },
  }
  return { kind: 'run', start, skipped: skippedResults(task, run, skips, now) }
}

/** The task as its sequel makes it. */
export function afterSequel(task: Task, sequel: Sequel, now: Instant): Task {
  if (sequel.kind === 'run') return withNewRun(task, sequel.start, 'nextRun')
  const { state, series, last } = sequel
  const ended = draftOf(last ? withNewRun(task, last, 'nextRun') : task)
  ended.state = stateAfter(task.state, state)
  ended.startTimeUs = 0
  ended.endTime = now
  if (series && !last) ended.series = series
  return ended
}
