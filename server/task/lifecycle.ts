import type { TaskState } from './task.js'

/** What can happen to a task, as far as its state is concerned. */
export type TaskEvent =
  /** A handler began. */
  | 'began'
  /** A handed-out attempt turned out never to have begun. */
  | 'notBegun'
  /** An attempt failed, and another one of the same run will follow. */
  | 'willRetry'
  /** An attempt was cut off through no fault of its own: it runs again. */
  | 'interrupted'
  /** A run has its result and another run follows: the next of a series, or that of a replacement. */
  | 'nextRun'
  /** A new spec took the place of what was waiting. */
  | 'replaced'
  /** An ended task was opened again, by REPLACE or by a retry after its end. */
  | 'reopened'
  | 'succeeded'
  | 'failed'
  | 'cancelled'
  | 'expired'

/**
 * The whole life of a task: what may happen in each state, and the state after it. What is not in the table must not happen.
 * A waiting task can end `succeeded` or `failed` only as a series that has no slot left: it takes the state of its last started run.
 */
export const NEXT_STATE: Readonly<Record<TaskState, Readonly<Partial<Record<TaskEvent, TaskState>>>>> = {
  scheduled: {
    began: 'running',
    notBegun: 'scheduled',
    nextRun: 'scheduled',
    replaced: 'scheduled',
    succeeded: 'succeeded',
    failed: 'failed',
    cancelled: 'cancelled',
    expired: 'expired',
  },
  running: {
    notBegun: 'scheduled',
    willRetry: 'scheduled',
    interrupted: 'scheduled',
    nextRun: 'scheduled',
    succeeded: 'succeeded',
    failed: 'failed',
    cancelled: 'cancelled',
  },
  succeeded: { reopened: 'scheduled' },
  failed: { reopened: 'scheduled' },
  cancelled: { reopened: 'scheduled' },
  expired: { reopened: 'scheduled' },
}

/** The state after `event`. @throws when the table does not allow it: a fault of the caller, never of a user. */
export function stateAfter(state: TaskState, event: TaskEvent): TaskState {
  const after = NEXT_STATE[state][event]
  if (after === undefined) throw new Error(`a task that is ${state} cannot be ${event}`)
  return after
}
