import type { Instant } from './instant.js'
import { firstRun } from './next-run.js'
import type { NewTask } from './task.js'
import type { TaskSpec } from './task-spec.js'

/**
 * The task that a valid spec becomes when it is accepted at `now`.
 *
 * @param requestId - Of the call, '' if it had none.
 */
export function admit(spec: TaskSpec, now: Instant, requestId = ''): NewTask {
  const { run, dueTime, manual, series } = firstRun(spec, now)
  return {
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
    ...(series && { series }),
    requestId,
    endTime: 0,
  }
}
