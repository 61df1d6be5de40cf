import type {
  TaskAnswer,
  TaskFilter as FilterMessage,
} from '../proto/generated/punctual/v1/scheduler_service.js'
import { fromItemError, type PunctualError } from './errors.js'
import { type TaskFilter, toTaskFilterMessage } from './list-tasks.js'
import { type TaskState, toTaskState } from './task-info.js'

/** Tasks by id (at most 10,000), or every task that matches a filter. */
export type TaskSelection = { readonly ids: readonly string[] } | { readonly filter: TaskFilter }

/** What became of one task of a selection. */
export interface SelectedTask {
  readonly id: string
  readonly state: TaskState
  /** An attempt is running and was told to stop. */
  readonly cancelRequested: boolean
  /** Why it was refused. */
  readonly error?: PunctualError
}

/** What became of a selection. */
export interface SelectionReport {
  /** How many were changed; in a dry run, how many would be. */
  readonly count: number
  /** With ids: one for each, in order. With a filter: those that were changed. */
  readonly tasks: readonly SelectedTask[]
}

/** A selection as the wire has it. */
export function toSelectionMessage(selection: TaskSelection): {
  ids: string[]
  filter: FilterMessage | undefined
} {
  if ('ids' in selection) return { ids: [...selection.ids], filter: undefined }
  return { ids: [], filter: toTaskFilterMessage(selection.filter) }
}

/** The answer of a batch in plain data. */
export function toSelectionReport(response: {
  readonly count: bigint
  readonly answers: readonly TaskAnswer[]
}): SelectionReport {
  return {
    count: Number(response.count),
    tasks: response.answers.map(({ id, state, cancelRequested, error }) => ({
      id,
      state: toTaskState(state),
      cancelRequested,
      ...(error && { error: fromItemError(error) }),
    })),
  }
}
