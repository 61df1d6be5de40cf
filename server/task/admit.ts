import type { Instant } from './instant.js'
import { firstRun } from './first-run.js'
import { freshSeries } from './series.js'
import type { NewTask } from './task.js'
import type { TaskSpec } from './task-spec.js'

/**
 * The task that a valid spec becomes when it is accepted at `now`.
 *
 * @param requestId - Of the call, '' if it had none.
 */
export function admit(spec: TaskSpec, now: Instant, requestId = ''): NewTask {
  // It had a run when it was looked at: one whose `until` has passed since then runs once, now.
  const late = { run: 1, dueTime: now, manual: false, series: freshSeries(now) }
  const { run, dueTime, manual, series } = firstRun(spec, now) ?? late
  const task: { -readonly [Field in keyof NewTask]: NewTask[Field] } = {
    spec,
    state: 'scheduled',
    run,
    attempts: 0,
    interruptions: 0,
    soloDeaths: 0,
    suspicions: 0,
    dueTime,
    notBefore: dueTime,
    createTime: now,
    startTimeUs: 0,
    startId: 0,
    paused: false,
    cancelRequested: false,
    manual,
    requestId,
    endTime: 0,
  }
  if (series) task.series = series
  return task
}
