import type { Instant } from '../task/instant.js'
import type { NewTask } from '../task/task.js'
import type { TaskSpec } from '../task/task-spec.js'

/**
 * A task as it stands before anything happened to it.
 *
 * @param now - The instant of acceptance: a past due time becomes it, and a delay is counted from it.
 */
export function newTask(spec: TaskSpec, now: Instant, requestId: string): NewTask {
  const dueTime = firstDue(spec, now)
  return {
    spec,
    state: 'scheduled',
    run: 1,
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
    manual: false,
    requestId,
    endTime: 0,
  }
}

function firstDue({ when }: TaskSpec, now: Instant): Instant {
  if (when.kind === 'now') return now
  return when.kind === 'at' ? Math.max(now, when.dueTime) : now + when.delayMs
}
