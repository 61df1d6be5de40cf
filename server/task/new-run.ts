import type { Instant } from './instant.js'
import { type TaskEvent, stateAfter } from './lifecycle.js'
import type { Series, Task } from './task.js'
import type { TaskSpec } from './task-spec.js'

/** A run that is to come. */
export interface RunStart {
  readonly run: number
  readonly dueTime: Instant
  /** Started by RunNow, beside the rhythm. */
  readonly manual: boolean
  readonly series?: Series
}

/** The task with a fresh run that waits for its due time: no attempt yet, nothing held against it. */
export function withNewRun(task: Task, start: RunStart, event: TaskEvent): Task {
  const { series: _, ...rest } = task
  return {
    ...rest,
    state: stateAfter(task.state, event),
    run: start.run,
    attempts: 0,
    interruptions: 0,
    soloDeaths: 0,
    suspicions: 0,
    dueTime: start.dueTime,
    notBefore: start.dueTime,
    startTimeUs: 0,
    // a task that has ended cannot be resumed: a pause from before would hold what is opened again for ever
    paused: task.paused && event !== 'reopened',
    cancelRequested: false,
    manual: start.manual,
    ...(start.series && { series: start.series }),
    endTime: 0,
  }
}

/** The task with another spec, for a run that waits; what was known of the old one is gone. */
export function withSpec(task: Task, spec: TaskSpec, start: RunStart, event: TaskEvent): Task {
  const { lastError: _, replacement: __, ...rest } = withNewRun(task, start, event)
  return { ...rest, spec }
}
