import type { Instant } from './instant.js'
import { withNewRun } from './new-run.js'
import { nextSlot, type Slot } from './recurrence/slots.js'
import type { Transition } from './result.js'
import {
  goOn,
  MAX_CATCH_UP_RUNS,
  passedSlots,
  type RecurringTask,
  rhythmOf,
  type Skip,
  sequel,
} from './series.js'
import { stateAfter } from './lifecycle.js'
import type { Series } from './task.js'

/**
 * What a waiting run of a series becomes as it falls due at `now`, if it does not simply start: when later slots have passed too, with no run open, the
 * `missed` policy decides (see docs/recurrence.md). Undefined: it starts.
 */
export function missedSlots(task: RecurringTask, now: Instant): Transition | undefined {
  const { recurrence } = task.spec
  if (task.attempts > 0 || task.manual) return undefined
  if (recurrence.kind !== 'cron' && recurrence.kind !== 'every') return undefined
  const { series } = task
  if (isLeftOut(task))
    return skipTo(task, series, [{ reason: 'dstGap', count: 1, due: task.dueTime }], series.slot, now)
  if ((series.catchUpThrough ?? -Infinity) >= series.slot) return undefined
  const passed = passedSlots(task, series.slot, now, MAX_CATCH_UP_RUNS)
  const { newest } = passed
  if (!newest) return undefined
  const gap: Skip[] =
    passed.skippedInGap > 0 ? [{ reason: 'dstGap', count: passed.skippedInGap, due: newest.due }] : []
  // The slot of the waiting run itself is one of those that have passed.
  const missed = passed.count + 1
  switch (recurrence.missed) {
    case 'runOnce':
      return runAt(
        task,
        series,
        [...gap, { reason: 'missed', count: missed - 1, due: newest.due }],
        newest,
        now,
      )
    case 'skip':
      return skipTo(
        task,
        series,
        [...gap, { reason: 'missed', count: missed, due: newest.due }],
        newest.slot,
        now,
      )
    case 'runAll':
      return runAll(task, passed.slots, missed, newest, now)
  }
}

/** The slots of a pause that ends at `now` are skipped; undefined when none has passed, or when the run was open before. */
export function pausedSlots(task: RecurringTask, now: Instant): Transition | undefined {
  if (task.attempts > 0 || task.manual || task.state !== 'scheduled' || task.dueTime > now) return undefined
  const { recurrence } = task.spec
  if (recurrence.kind !== 'cron' && recurrence.kind !== 'every') return undefined
  const { series } = task
  const passed = passedSlots(task, series.slot, now)
  const newest = passed.newest ?? { slot: series.slot, due: task.dueTime }
  return skipTo(
    task,
    series,
    [{ reason: 'paused', count: passed.count + 1, due: newest.due }],
    newest.slot,
    now,
  )
}

/** RUN_ALL: the missed slots run one after another, the newest 1,000 of them. */
function runAll(
  task: RecurringTask,
  later: readonly Slot[],
  missed: number,
  newest: Slot,
  now: Instant,
): Transition | undefined {
  const series: Series = { ...task.series, catchUpThrough: newest.slot }
  const surplus = missed - MAX_CATCH_UP_RUNS
  const [oldest] = later
  if (surplus <= 0 || !oldest) return { task: { ...task, series }, entries: [] }
  return runAt(task, series, [{ reason: 'missed', count: surplus, due: oldest.slot }], oldest, now)
}

/** The waiting run gives way to skipped ones, and waits for the slot after `slot`; the series may end. */
function skipTo(
  task: RecurringTask,
  series: Series,
  skips: readonly Skip[],
  slot: Instant,
  now: Instant,
): Transition {
  const next = goOn(task, series, { slot })
  return follow(task, series, { run: next.run, skips: [...skips, ...next.skips] }, now)
}

/** The waiting run becomes that of `run`, after the skipped ones. */
function runAt(
  task: RecurringTask,
  series: Series,
  skips: readonly Skip[],
  run: Slot,
  now: Instant,
): Transition {
  return follow(task, series, { run, skips }, now)
}

function follow(
  task: RecurringTask,
  series: Series,
  step: { readonly run: Slot | undefined; readonly skips: readonly Skip[] },
  now: Instant,
): Transition {
  const { next, endState, skipped } = sequel(task, series, step, now, task.run)
  if (next) return { task: withNewRun(task, next, 'nextRun'), entries: skipped }
  return {
    task: { ...task, state: stateAfter(task.state, endState), series, endTime: now },
    entries: skipped,
  }
}

/** The slot of the waiting run is a local time that does not exist, under the SKIP policy: only a first run can wait for one. */
function isLeftOut(task: RecurringTask): boolean {
  const { recurrence } = task.spec
  if (recurrence.kind !== 'cron' || recurrence.dstGap !== 'skip') return false
  const { slot } = task.series
  const same = nextSlot(recurrence, rhythmOf(task), { slot: slot - 1 })
  return same?.slot === slot && same.mark === 'skipped'
}
