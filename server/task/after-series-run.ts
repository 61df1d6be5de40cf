import type { Instant } from './instant.js'
import { nextSlot } from './recurrence/slots.js'
import { atSlot, goOn, passedSlots, type RecurringTask, rhythmOf, type Step } from './series.js'
import { manualSequel, type Sequel, sequelOf } from './sequel.js'
import { skipsOf } from './skips.js'
import type { EndState, Series } from './task.js'

/** When a run ended, and when that is dealt with. */
export interface RunEnd {
  /** Rounded up to milliseconds. */
  readonly endedAt: Instant
  readonly now: Instant
}

/**
 * What follows now that the current run of a series ended in `state`; not for one that was cancelled. In this order: the run that RunNow asked for, the next
 * slot of a catch-up, the newest slot that passed meanwhile (QUEUE_ONE), the next slot to come, the end.
 */
export function afterSeriesRun(task: RecurringTask, state: EndState, { endedAt, now }: RunEnd): Sequel {
  const series = seriesAfter(task, state)
  const run = task.run + 1
  if (series.manualWaits) return manualSequel(task, run, [], { series, after: series.slot }, now)
  if (hadAllRuns(task, series)) return sequelOf(task, run, [], { series }, now)
  const owed = owedStep(task, series, now)
  if (owed) return sequelOf(task, run, [], owed, now)
  // What passed while the run was open: all of it is skipped, or all but the newest. A slot at the very end is in time.
  const passed = passedSlots(task, series.slot, endedAt - 1)
  const { newest } = passed
  if (newest && queuesOne(task)) {
    const before = passedSlots(task, series.slot, newest.slot - 1)
    return sequelOf(task, run, skipsOf(before, 'overlap'), atSlot(series, newest), now)
  }
  const next = goOn(task, series, { after: passed.through, lastEnd: endedAt, now })
  return sequelOf(task, run, skipsOf(passed, 'overlap'), next, now)
}

/** The series as the end of the current run leaves it. A run that never started counts for nothing but the distance of `minInterval`. */
function seriesAfter(
  { series, attempts, manual, startTimeUs, dueTime }: RecurringTask,
  state: EndState,
): Series {
  if (attempts === 0) return manual ? series : { ...series, lastStart: dueTime }
  return {
    ...series,
    startedRuns: series.startedRuns + (manual ? 0 : 1),
    lastStart: Math.ceil(startTimeUs / 1_000),
    lastState: state,
  }
}

function hadAllRuns({ spec: { recurrence } }: RecurringTask, series: Series): boolean {
  return recurrence.maxRuns !== undefined && series.startedRuns >= recurrence.maxRuns
}

/** The next slot, if RUN_ALL has promised it a run; one that a step of the clock has put into the future is a slot like any other. */
function owedStep(task: RecurringTask, series: Series, now: Instant): Step | undefined {
  const { slot, owedThrough = -Infinity } = series
  if (owedThrough <= slot) return undefined
  const next = nextSlot(task.spec.recurrence, rhythmOf(task), { slot })
  return next && next.slot <= Math.min(owedThrough, now) ? atSlot(series, next) : undefined
}

function queuesOne({ spec: { recurrence } }: RecurringTask): boolean {
  return 'overlap' in recurrence && recurrence.overlap === 'queueOne'
}
