import type { LogFilter } from '../../server/store/task-store.js'
import { logEntry } from '../../server/task/log-entry.js'
import type { TaskResult, Transition } from '../../server/task/result.js'
import type { EndState, NewTask, Task } from '../../server/task/task.js'
import { type GivenSpec, taskSpec } from '../support/task-specs.js'

/** 2030-01-01T00:00:00Z: when the worlds of these tests begin. */
export const START = Date.UTC(2030, 0, 1)

export type GivenTask = Partial<Omit<NewTask, 'spec'>> & { readonly spec?: GivenSpec }

/** A new task, due at START unless said otherwise. */
export function newTask({ spec, ...given }: GivenTask = {}): NewTask {
  const dueTime = given.dueTime ?? START
  return {
    spec: taskSpec(spec),
    state: 'scheduled',
    run: 1,
    attempts: 0,
    interruptions: 0,
    soloDeaths: 0,
    suspicions: 0,
    dueTime,
    notBefore: dueTime,
    createTime: START,
    startTimeUs: 0,
    startId: 0,
    paused: false,
    cancelRequested: false,
    manual: false,
    requestId: '',
    endTime: 0,
    ...given,
  }
}

export const named = (id: string, given: GivenTask = {}): NewTask =>
  newTask({ ...given, spec: { ...given.spec, id } })

const OUTCOMES = {
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
} as const

/** The result of the current run. */
export function resultOf(task: Task, given: Partial<TaskResult> = {}): TaskResult {
  return { ...logEntry('result', task, { outcome: 'succeeded', endTimeUs: START * 1_000 }), ...given }
}

/** The end of a task in this state, with its result. */
export function ending(
  task: Task,
  state: EndState = 'succeeded',
  given: Partial<Omit<Task, 'state'>> = {},
): Transition {
  const ended: Task = { ...task, endTime: START, ...given, state }
  return { task: ended, entries: [resultOf(ended, { outcome: OUTCOMES[state], last: true })] }
}

/** A run of a recurring task has ended: its result, and the next run. */
export function nextRun(task: Task, dueTime = task.dueTime + 60_000): Transition {
  const next: Task = {
    ...task,
    state: 'scheduled',
    run: task.run + 1,
    attempts: 0,
    dueTime,
    notBefore: dueTime,
  }
  return { task: next, entries: [resultOf(task)] }
}

/** An attempt has failed and another one follows. */
export function backOff(task: Task, notBefore: number): Transition {
  const next: Task = { ...task, state: 'scheduled', notBefore }
  return { task: next, entries: [resultOf(task, { kind: 'attempt', outcome: 'failed' })] }
}

export const EVERYTHING: LogFilter = {
  taskIds: new Set(),
  handlers: new Set(),
  labels: {},
  outcomes: new Set(),
  origins: new Set(),
  includeAttempts: true,
}
