import { stateAfter } from './lifecycle.js'
import type { Task } from './task.js'

/** An attempt of the task began. `startId` is the fence from now on: only this attempt's ending is accepted. */
export function began(task: Task, startId: number, startTimeUs: number): Task {
  return {
    ...task,
    state: stateAfter(task.state, 'began'),
    attempts: task.attempts + 1,
    startId,
    startTimeUs,
  }
}

/** An attempt that was noted ahead never began: it goes back uncounted. */
export function notBegun(task: Task): Task {
  const counted = task.state === 'running'
  return {
    ...task,
    state: stateAfter(task.state, 'notBegun'),
    attempts: task.attempts - (counted ? 1 : 0),
    startTimeUs: 0,
  }
}
