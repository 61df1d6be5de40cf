import type { Instant } from './instant.js'
import type { Recurrence } from './recurrence/recurrence.js'
import {
  nextSlot,
  type PassedSlots,
  pullIn,
  type Rhythm,
  type Slot,
  slotsBetween,
} from './recurrence/slots.js'
import type { Series, Task } from './task.js'

/** A task that repeats. */
export interface RecurringTask extends Task {
  readonly spec: Task['spec'] & { readonly recurrence: Recurrence }
  readonly series: Series
}

export function isRecurring(task: Task): task is RecurringTask {
  return task.spec.recurrence !== undefined && task.series !== undefined
}

/** A series whose first slot is `slot`. */
export function freshSeries(slot: Instant): Series {
  return { firstDue: slot, slot, startedRuns: 0, lastStart: 0, lastState: 'expired', manualWaits: false }
}

/** What the rhythm of a task hangs on. */
export const rhythmOf = ({ spec, series }: RecurringTask): Rhythm => ({
  id: spec.id,
  firstDue: series.firstDue,
})

/** The slots of the rhythm after `after` that have passed by `through`. */
export function passedSlots(
  task: RecurringTask,
  after: Instant,
  through: Instant,
  limit?: number,
): PassedSlots {
  return slotsBetween(task.spec.recurrence, rhythmOf(task), {
    after,
    through,
    ...(limit !== undefined && { limit }),
  })
}

/** A slot that the series goes on with. */
export interface Step {
  /** Absent: the rhythm has none left. It may be a local time that does not exist: then it is skipped when its time comes. */
  readonly run?: Slot
  readonly series: Series
}

/** The series with `slot` as that of its current run. */
export function atSlot(series: Series, slot: Slot): Step {
  const { owedThrough, ...rest } = series
  const isOwed = owedThrough !== undefined && owedThrough >= slot.slot
  return { run: slot, series: { ...rest, slot: slot.slot, ...(isOwed && { owedThrough }) } }
}

/**
 * Goes on with the rhythm once all of it up to `after` has been dealt with. After the clock was set back, the next slot of an interval is no further away than
 * the interval is long.
 *
 * @param lastEnd - When the run before it ended.
 */
export function goOn(
  task: RecurringTask,
  series: Series,
  { after, lastEnd, now }: { readonly after: Instant; readonly lastEnd: Instant; readonly now: Instant },
): Step {
  const { recurrence } = task.spec
  const rhythm = { id: task.spec.id, firstDue: series.firstDue }
  const { startedRuns } = series
  // Only a run beside the rhythm can have ended with nothing started: it keeps no distance.
  const lastStart = series.lastStart || -Infinity
  const next = nextSlot(recurrence, rhythm, { slot: after, lastStart, lastEnd, startedRuns })
  if (!next) return { series }
  const { firstDue, slot } = pullIn(recurrence, rhythm, next, now)
  if (firstDue === series.firstDue) return atSlot(series, slot)
  // another grid, on which nothing is owed
  const { owedThrough: _, ...rest } = series
  return atSlot({ ...rest, firstDue }, slot)
}

/** The slot of the waiting run is a local time that does not exist, under the SKIP policy. */
export function isLeftOut(task: RecurringTask): boolean {
  const { recurrence } = task.spec
  if (recurrence.kind !== 'cron' || recurrence.dstGap !== 'skip') return false
  const { slot } = task.series
  const same = nextSlot(recurrence, rhythmOf(task), { slot: slot - 1 })
  return same?.slot === slot && same.mark === 'skipped'
}

/** The waiting run has its place whatever passes meanwhile: RUN_ALL catches up with it, or it was open when a pause began. */
export const isOwed = ({ series }: RecurringTask): boolean => (series.owedThrough ?? -Infinity) >= series.slot
