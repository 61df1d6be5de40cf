import type { Instant } from './instant.js'
import type { PassedSlots, Slot } from './recurrence/slots.js'
import type { SkipReason, Transition } from './result.js'
import { atSlot, goOn, isLeftOut, isOwed, passedSlots, type RecurringTask } from './series.js'
import { afterSequel, manualSequel, type Sequel, sequelOf } from './sequel.js'
import { skipsOf } from './skips.js'
import type { Series } from './task.js'

/** RUN_ALL catches up with so many missed slots at most, the newest; the rest is one SKIPPED result. */
const MAX_CATCH_UP_RUNS = 1_000

/**
 * What a waiting run of a series becomes as it falls due at `now`, if it does not simply start: its local time does not exist, or later slots have passed too
 * with no run open, so that the `missed` policy decides. Undefined: it starts.
 */
export function missedSlots(task: RecurringTask, now: Instant): Transition | undefined {
  const { recurrence } = task.spec
  const { series } = task
  if (task.attempts > 0 || task.manual) return undefined
  if (recurrence.kind !== 'cron' && recurrence.kind !== 'every') return undefined
  if (isOwed(task)) {
    return isLeftOut(task)
      ? skipped(task, 'dstGap', passedSlots(task, series.slot - 1, series.slot), now)
      : undefined
  }
  // The slot of the waiting run is one of them.
  const passed = passedSlots(task, series.slot - 1, now, MAX_CATCH_UP_RUNS)
  const { count, newest } = passed
  if (!newest) return passed.skippedInGap > 0 ? skipped(task, 'missed', passed, now) : undefined
  if (count === 1) return newest.slot === series.slot ? undefined : caughtUpWith(task, series, newest, now)
  switch (recurrence.missed) {
    case 'runOnce':
      return caughtUpWith(task, series, newest, now)
    case 'skip':
      return skipped(task, 'missed', passed, now)
    case 'runAll':
      return caughtUpWith(task, { ...series, owedThrough: newest.slot }, passed.slots[0] ?? newest, now)
  }
}

/** The slots of a pause that ends at `now` are skipped; undefined when none has passed, or when the run was open before it. */
export function pausedSlots(task: RecurringTask, now: Instant): Transition | undefined {
  const { recurrence } = task.spec
  if (recurrence.kind !== 'cron' && recurrence.kind !== 'every') return undefined
  if (task.attempts > 0 || task.manual || isOwed(task)) return undefined
  const passed = passedSlots(task, task.series.slot - 1, now)
  return passed.count + passed.skippedInGap > 0 ? skipped(task, 'paused', passed, now) : undefined
}

/** The waiting run becomes that of slot `run`; the slots before it are skipped. */
function caughtUpWith(task: RecurringTask, series: Series, run: Slot, now: Instant): Transition {
  const before = passedSlots(task, series.slot - 1, run.slot - 1)
  return transition(task, sequelOf(task, task.run, skipsOf(before, 'missed'), atSlot(series, run), now), now)
}

/** All that has passed is skipped, the waiting run included. */
function skipped(task: RecurringTask, reason: SkipReason, passed: PassedSlots, now: Instant): Transition {
  const { series } = task
  const skips = skipsOf(passed, reason)
  const after = passed.through
  const sequel = series.manualWaits
    ? manualSequel(task, task.run, skips, { series, after }, now)
    : sequelOf(task, task.run, skips, goOn(task, series, { after, lastEnd: now, now }), now)
  return transition(task, sequel, now)
}

const transition = (task: RecurringTask, sequel: Sequel, now: Instant): Transition => ({
  task: afterSequel(task, sequel, now),
  entries: sequel.skipped,
})
