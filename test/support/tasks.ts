import { admit } from '../../server/task/admit.js'
import type { Task } from '../../server/task/task.js'
import { type GivenSpec, taskSpec } from './task-specs.js'

/** 2030-01-01, when tasks of tests are accepted. */
export const NOW = Date.UTC(2030, 0, 1)

let arrivals = 0

/** A stored task that waits, changed as a test wants it. */
export function waitingTask(spec: GivenSpec = {}, changes: Partial<Task> = {}): Task {
  return { ...admit(taskSpec(spec), NOW), arrival: ++arrivals, ...changes }
}

/** The same while its first attempt runs. */
export function runningTask(spec: GivenSpec = {}, changes: Partial<Task> = {}): Task {
  return waitingTask(spec, {
    state: 'running',
    attempts: 1,
    startId: 7,
    startTimeUs: NOW * 1_000,
    ...changes,
  })
}

/** The same after its end. */
export function endedTask(
  state: 'succeeded' | 'failed' | 'cancelled' | 'expired',
  spec: GivenSpec = {},
): Task {
  return waitingTask(spec, { state, attempts: 1, startId: 7, endTime: NOW })
}
