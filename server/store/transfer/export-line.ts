import type { Instant } from '../../task/instant.js'
import type { TaskResult } from '../../task/result.js'
import type { Task } from '../../task/task.js'
import type { LogEntry, LogPosition, StoredConsumer } from '../task-store.js'

/** Of the files that this version writes and reads. A change of what a line means gets a new number. */
export const EXPORT_FORMAT = 1

/** The first line: what holds for the store as a whole. */
export interface HeaderLine {
  readonly type: 'export'
  readonly format: typeof EXPORT_FORMAT
  /** The first start id that nobody has had. */
  readonly nextStartId: number
  /** The largest arrival that was ever given. */
  readonly newestArrival: number
  /** When the last change was made; 0 = never. */
  readonly lastChange: Instant
  /** Up to here retention has removed results; what is left of them can be found by task alone. */
  readonly logFloor: { readonly position: LogPosition; readonly commitTime: Instant }
}

/** A durable consumer. */
export interface ConsumerLine {
  readonly type: 'consumer'
  readonly consumer: StoredConsumer
}

/** A task that has not ended. */
export interface TaskLine {
  readonly type: 'task'
  /** Its results come after this. */
  readonly logPosition: LogPosition
  readonly task: Task
}

/** A result as this version cannot write it anew, byte for byte: what filters look at, and the bytes. */
export type SealedResult = Pick<
  LogEntry,
  'kind' | 'outcome' | 'taskId' | 'handler' | 'run' | 'origin' | 'labels'
> & { readonly sealed: Uint8Array }

/** An entry of the log. */
export interface ResultLine {
  readonly type: 'result'
  readonly position: LogPosition
  readonly commitTime: Instant
  readonly arrival: number
  readonly result: TaskResult | SealedResult
  /** The task, if it ended with this and has not been opened again. */
  readonly task?: Task
}

/** A task that has ended and is remembered, though retention has taken its last result. */
export interface EndedLine {
  readonly type: 'ended'
  /** Where its last result stood, when that was committed, and how it ended. */
  readonly position: LogPosition
  readonly commitTime: Instant
  readonly outcome: TaskResult['outcome']
  readonly run: number
  readonly task: Task
}

/** The last line: without it the file is not whole. */
export interface EndLine {
  readonly type: 'end'
  /** Lines before this one. */
  readonly lines: number
}

export type ExportLine = HeaderLine | ConsumerLine | TaskLine | ResultLine | EndedLine | EndLine
