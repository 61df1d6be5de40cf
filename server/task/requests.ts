import { TaskEndedError } from './errors.js'
import { askedDueTime, firstRun, noRunLeft } from './first-run.js'
import type { Instant } from './instant.js'
import { pausedSlots } from './missed-slots.js'
import { type RunStart, withNewRun, withSpec } from './new-run.js'
import type { Transition } from './result.js'
import { endRun } from './run-end.js'
import { isRecurring, passedSlots, type RecurringTask } from './series.js'
import { isLive, type Task, type TaskState } from './task.js'
import type { TaskSpec } from './task-spec.js'

/** A change that somebody asked for; `undefined` = there is nothing to change, the task is as it was asked to be. */
export type Change = (Transition & { readonly reopen?: boolean }) | undefined

/**
 * Cancels: a waiting run gets its result at once; of a running one the wish is noted, and its outcome will be CANCELLED whatever the handler still returns.
 *
 * @param handedOut - The waiting task may begin at any moment, in a thread: only the wish is noted.
 * @throws TaskEndedError when the task has ended otherwise.
 */
export function cancel(task: Task, now: Instant, handedOut = false): Change {
  if (task.state === 'cancelled' || (isLive(task.state) && task.cancelRequested && !task.replacement))
    return undefined
  if (!isLive(task.state)) throw new TaskEndedError(task.spec.id, task.state, 'cancelled')
  const { replacement: _, ...alone } = task
  if (task.state === 'running' || handedOut) return { task: { ...alone, cancelRequested: true }, entries: [] }
  return cancelWaiting(alone, now)
}

/** The result of a cancelled run of which no attempt was running. */
export function cancelWaiting(task: Task, now: Instant): Transition {
  return endRun(
    task,
    'cancelled',
    { outcome: 'cancelled', endTimeUs: now * 1_000, cancelStage: 'neverStarted' },
    now,
  )
}

/** The first attempt of a waiting run did not start in time. */
export function expire(task: Task, now: Instant): Transition {
  return endRun(task, 'expired', { outcome: 'expired', endTimeUs: now * 1_000 }, now)
}

/** Whether the first attempt of the run would start later than `startWithin` allows. */
export function isExpired(task: Task, now: Instant): boolean {
  return now > expiryOf(task)
}

/** The last instant at which the first attempt of the run may start; Infinity = any. */
export function expiryOf(task: Task): Instant {
  const { startWithinMs } = task.spec
  return startWithinMs === undefined || task.attempts > 0 ? Infinity : task.dueTime + startWithinMs
}

/** From now on no attempt starts. A waiting run that is due already is open: it has its place when the pause ends. @throws TaskEndedError when the task has ended. */
export function pause(task: Task, now: Instant): Change {
  if (!isLive(task.state)) throw new TaskEndedError(task.spec.id, task.state, 'paused')
  if (task.paused) return undefined
  const paused = { ...task, paused: true }
  if (!isRecurring(paused) || paused.dueTime > now) return { task: paused, entries: [] }
  const { owedThrough = -Infinity, slot } = paused.series
  const series = { ...paused.series, owedThrough: Math.max(owedThrough, slot) }
  return { task: { ...paused, series }, entries: [] }
}

/** Ends a pause. @throws TaskEndedError when the task has ended. */
export function resume(task: Task, now: Instant): Change {
  if (!isLive(task.state)) throw new TaskEndedError(task.spec.id, task.state, 'resumed')
  if (!task.paused) return undefined
  const resumed = { ...task, paused: false }
  return (isRecurring(resumed) && pausedSlots(resumed, now)) || { task: resumed, entries: [] }
}

/**
 * Runs a waiting one-shot task now, ahead of its due time or back-off; a running one is running already. A recurring task gets one run beside its rhythm: now,
 * or as soon as the open run has its result. @throws TaskEndedError when the task has ended.
 */
export function runNow(task: Task, now: Instant, handedOut = false): Change {
  if (!isLive(task.state)) throw new TaskEndedError(task.spec.id, task.state, 'run')
  if (isRecurring(task)) return runSeriesNow(task, now, handedOut)
  if (task.state === 'running' || task.notBefore <= now) return undefined
  const dueTime = Math.min(task.dueTime, now)
  return { task: { ...task, dueTime, notBefore: now, manual: true }, entries: [] }
}

function runSeriesNow(task: RecurringTask, now: Instant, handedOut: boolean): Change {
  const { series } = task
  const hasBegun = task.state === 'running' || handedOut || task.attempts > 0
  if (task.manual && !hasBegun) return undefined
  if (hasBegun || task.notBefore <= now) {
    if (series.manualWaits) return undefined
    return { task: { ...task, series: { ...series, manualWaits: true } }, entries: [] }
  }
  // The slot that was waited for is not dealt with yet: the rhythm goes on just before it.
  const manual = {
    ...task,
    manual: true,
    dueTime: now,
    notBefore: now,
    series: { ...series, slot: series.slot - 1 },
  }
  return { task: manual, entries: [] }
}

const RETRYABLE: ReadonlySet<TaskState> = new Set(['failed', 'expired', 'cancelled'])

/** Runs a task that FAILED, EXPIRED or was CANCELLED once more, with the spec it had; a live one is left as it is. @throws TaskEndedError when it SUCCEEDED. */
export function retryEnded(task: Task, now: Instant): Change {
  if (isLive(task.state)) return undefined
  if (!RETRYABLE.has(task.state)) throw new TaskEndedError(task.spec.id, task.state, 'retried')
  if (task.spec.payload.kind === 'forgotten')
    throw new TaskEndedError(task.spec.id, task.state, 'retried: its input is no longer kept')
  return { task: withNewRun(task, retryStart(task, now), 'reopened'), entries: [], reopen: true }
}

/** Of a series, a run beside the rhythm, which then goes on where it would be by now; what passed after its end is nobody's. */
function retryStart(task: Task, now: Instant): RunStart {
  const start = { run: task.run + 1, dueTime: now }
  if (!isRecurring(task)) return { ...start, manual: false }
  const { owedThrough: _, ...series } = task.series
  const slot = passedSlots(task, series.slot - 1, now).through
  return { ...start, manual: true, series: { ...series, slot, manualWaits: false } }
}

/**
 * Puts another spec in the place of what the task was: at once when it waits (back-off included) or has ended, after the open run's result when it is running.
 *
 * @param requestId - A repeat of the last one changes nothing.
 */
export function replace(
  task: Task,
  spec: TaskSpec,
  requestId: string,
  now: Instant,
  handedOut = false,
): Change {
  if (requestId !== '' && requestId === task.requestId) return undefined
  const known = { ...task, requestId }
  if (task.state === 'running' || (task.state === 'scheduled' && handedOut)) {
    return { task: { ...known, replacement: { spec, dueTime: askedDueTime(spec, now) } }, entries: [] }
  }
  const isWaiting = task.state === 'scheduled'
  const start = firstRun(spec, now, isWaiting ? task.run : task.run + 1)
  if (!start) throw noRunLeft()
  if (isWaiting) {
    const replaced = withSpec(known, spec, start, 'replaced')
    const { suspicions, soloDeaths } = task
    // a client that replaces its task after each crash must not bring it out of quarantine
    const kept = spec.handler === task.spec.handler ? { suspicions, soloDeaths } : {}
    return { task: { ...replaced, ...kept }, entries: [] }
  }
  return { task: withSpec(known, spec, start, 'reopened'), entries: [], reopen: true }
}
