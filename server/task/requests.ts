import { TaskEndedError } from './errors.js'
import type { Instant } from './instant.js'
import { withNewRun, withSpec } from './new-run.js'
import { pausedSlots } from './missed-slots.js'
import { askedDueTime, firstRun } from './next-run.js'
import type { Transition } from './result.js'
import { endRun } from './run-end.js'
import { isRecurring, type RecurringTask } from './series.js'
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

/** From now on no attempt starts. @throws TaskEndedError when the task has ended. */
export function pause(task: Task): Change {
  if (!isLive(task.state)) throw new TaskEndedError(task.spec.id, task.state, 'paused')
  return task.paused ? undefined : { task: { ...task, paused: true }, entries: [] }
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
  const isOpen = task.state === 'running' || handedOut || task.attempts > 0
  if (task.manual && !isOpen) return undefined
  if (isOpen || task.notBefore <= now) {
    return series.manualWaits
      ? undefined
      : { task: { ...task, series: { ...series, manualWaits: true } }, entries: [] }
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
  const first = firstRun(task.spec, now, task.run + 1)
  const { series } = first
  // Of a series, the run beside the rhythm; the rhythm goes on after it.
  const beside = series && { manual: true, series: { ...series, slot: series.slot - 1 } }
  const start = { ...first, ...beside, dueTime: now }
  return { task: withNewRun(task, start, 'reopened'), entries: [], reopen: true }
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
  if (task.state === 'scheduled') {
    const replaced = withSpec(known, spec, firstRun(spec, now, task.run), 'replaced')
    const { suspicions, soloDeaths } = task
    // a client that replaces its task after each crash must not bring it out of quarantine
    const kept = spec.handler === task.spec.handler ? { suspicions, soloDeaths } : {}
    return { task: { ...replaced, ...kept }, entries: [] }
  }
  const reopened = withSpec(known, spec, firstRun(spec, now, task.run + 1), 'reopened')
  return { task: reopened, entries: [], reopen: true }
}
