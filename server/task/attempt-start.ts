import { draftOf } from './draft.js'
import { stateAfter } from './lifecycle.js'
import type { Task } from './task.js'

/** An attempt of the task began. `startId` is the fence from now on: only this attempt's ending is accepted. */
export function began(task: Task, startId: number, startTimeUs: number): Task {
  const running = draftOf(task)
  running.state = stateAfter(task.state, 'began')
  running.attempts++
  running.startId = startId
  running.startTimeUs = startTimeUs
  return running
}

/** An attempt that was noted ahead never began: it goes back uncounted. */
export function notBegun(task: Task): Task {
  const waiting = draftOf(task)
  waiting.state = stateAfter(task.state, 'notBegun')
  if (task.state === 'running') waiting.attempts--
  waiting.startTimeUs = 0
  return waiting
}
