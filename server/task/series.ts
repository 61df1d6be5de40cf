import type { Instant } from './instant.js'
import { logEntry } from './log-entry.js'
import type { RunStart, Sequel } from './next-run.js'
import type { Recurrence } from './recurrence/recurrence.js'
import { nextRunSlot, nextSlot, type Slot, slotsBetween } from './recurrence/slots.js'
import type { SkipReason, TaskResult } from './result.js'
import type { EndState, Series, Task } from './task.js'

/** A task that repeats. */
export interface RecurringTask extends Task {
  readonly spec: Task['spec'] & { readonly recurrence: Recurrence }
  readonly series: Series
}

export function isRecurring(task: Task): task is RecurringTask {
  return task.spec.recurrence !== undefined && task.series !== undefined
}

/** RUN_ALL catches up with so many missed slots at most, the newest; the rest is one SKIPPED result. */
export const MAX_CATCH_UP_RUNS = 1_000

/** What the rhythm of a task hangs on. */
export const rhythmOf = (task: RecurringTask) => ({ id: task.spec.id, firstDue: task.series.firstDue })

/** The slots of the rhythm after `after` that have passed by `now`. */
export function passedSlots(task: RecurringTask, after: Instant, now: Instant, limit = 1) {
  return slotsBetween(task.spec.recurrence, rhythmOf(task), { after, through: now, limit })
}

/** A stretch of slots that did not run, as one run with a result of its own. */
export interface Skip {
  readonly reason: SkipReason
  readonly count: number
  /** When the newest of them was due. */
  readonly due: Instant
}

/** The results of skipped stretches: each takes the next run number, from `firstRun` on. */
export function skippedResults(
  task: Task,
  firstRun: number,
  skips: readonly Skip[],
  now: Instant,
): TaskResult[] {
  return skips.map(({ reason, count, due }, i) => {
    const run: Task = {
      ...task,
      run: firstRun + i,
      attempts: 0,
      interruptions: 0,
      manual: false,
      dueTime: due,
    }
    return {
      ...logEntry('result', run, { outcome: 'skipped', endTimeUs: now * 1_000 }),
      skipReason: reason,
      skippedCount: count,
    }
  })
}

/** Goes on with the rhythm after slot `after`, all up to it being dealt with: local times that do not exist are skipped on the way. */
export function goOn(
  task: RecurringTask,
  series: Series,
  after: { readonly slot: Instant; readonly lastEnd?: Instant },
): { readonly run: Slot | undefined; readonly skips: readonly Skip[] } {
  const { run, skippedInGap } = nextRunSlot(
    task.spec.recurrence,
    { id: task.spec.id, firstDue: series.firstDue },
    {
      ...after,
      lastStart: series.lastStart,
      startedRuns: series.startedRuns,
    },
  )
  const skips: Skip[] = skippedInGap
    ? [{ reason: 'dstGap', count: skippedInGap.count, due: skippedInGap.newest.due }]
    : []
  return { run, skips }
}

/** The next step of a series: skipped results first, then the run, or the end. */
export function sequel(
  task: RecurringTask,
  series: Series,
  step: { readonly run: Slot | undefined; readonly skips: readonly Skip[]; readonly manual?: boolean },
  now: Instant,
  firstRun = task.run + 1,
): Sequel {
  const { run, skips } = step
  const skipped = skippedResults(task, firstRun, skips, now)
  if (run) {
    const start: RunStart = {
      run: firstRun + skips.length,
      dueTime: run.due,
      manual: step.manual ?? false,
      series: { ...series, slot: run.slot },
    }
    return { next: start, endState: series.lastState, skipped }
  }
  const last = skipped.at(-1)
  if (last) skipped[skipped.length - 1] = { ...last, last: true }
  return { endState: series.lastState, skipped }
}

/** What follows now that the current run of a series ended in `state`; not for one that was cancelled. */
export function afterSeriesRun(task: RecurringTask, state: EndState, now: Instant): Sequel {
  const series = seriesAfter(task, state)
  if (isOver(task, series)) return { endState: series.lastState, skipped: [] }
  if (series.manualWaits) return manualRun(task, series, now)
  const { slot, catchUpThrough = -Infinity } = series
  if (catchUpThrough > slot) {
    const next = nextSlot(task.spec.recurrence, rhythmOf(task), { slot, startedRuns: series.startedRuns })
    if (next && next.slot <= catchUpThrough && next.mark !== 'skipped')
      return sequel(task, series, { run: next, skips: [] }, now)
  }
  const passed = passedSlots(task, slot, now)
  const { newest } = passed
  if (!newest) return sequel(task, series, goOn(task, series, { slot, lastEnd: now }), now)
  return sequel(task, series, afterOverlap(task, series, { ...passed, newest }, now), now)
}

/** Slots that passed while the run was open: all are skipped, or all but the newest. */
function afterOverlap(
  task: RecurringTask,
  series: Series,
  passed: { readonly count: number; readonly newest: Slot; readonly skippedInGap: number },
  now: Instant,
): { readonly run: Slot | undefined; readonly skips: readonly Skip[] } {
  const { recurrence } = task.spec
  const queues = 'overlap' in recurrence && recurrence.overlap === 'queueOne'
  const count = passed.count - (queues ? 1 : 0)
  const skips: Skip[] = []
  if (passed.skippedInGap > 0)
    skips.push({ reason: 'dstGap', count: passed.skippedInGap, due: passed.newest.due })
  if (count > 0) skips.push({ reason: 'overlap', count, due: passed.newest.due })
  if (queues) return { run: passed.newest, skips }
  const next = goOn(task, series, { slot: passed.newest.slot, lastEnd: now })
  return { run: next.run, skips: [...skips, ...next.skips] }
}

/** The series as the end of the current run leaves it. A run that never started counts for nothing. */
function seriesAfter({ series, attempts, manual, startTimeUs }: RecurringTask, state: EndState): Series {
  if (attempts === 0) return series
  return {
    ...series,
    startedRuns: series.startedRuns + (manual ? 0 : 1),
    lastStart: Math.max(series.lastStart, Math.ceil(startTimeUs / 1_000)),
    lastState: state,
  }
}

/** A manual run that waits does not keep a series alive, nor does a rhythm that has nothing left keep back one that was promised. */
function isOver({ spec: { recurrence } }: RecurringTask, series: Series): boolean {
  return !series.manualWaits && recurrence.maxRuns !== undefined && series.startedRuns >= recurrence.maxRuns
}

/** The run that RunNow asked for while another was open; the rhythm is looked at again when it has ended. */
function manualRun(task: RecurringTask, series: Series, now: Instant): Sequel {
  return {
    next: { run: task.run + 1, dueTime: now, manual: true, series: { ...series, manualWaits: false } },
    endState: series.lastState,
    skipped: [],
  }
}
