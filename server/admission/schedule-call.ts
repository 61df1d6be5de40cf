import type { SchedulerError, Violation } from '../task/errors.js'
import type { Task } from '../task/task.js'
import type { TaskSpec } from '../task/task-spec.js'
import type { LogPosition } from '../store/task-store.js'

/** What a Schedule with a known id does; see `punctual.v1.OnConflict`. */
export type OnConflict = 'sameSpec' | 'keep' | 'replace'

/** Where the payload of a spec came from: the paths of violations begin with it. */
export type PayloadField = 'task.input' | 'task.input_json' | 'task.input_bytes'

/** One request to schedule a task, as it was understood so far. */
export interface ScheduleCall {
  /** Complete: defaults are filled in, an unusable value is replaced by one (and is in `violations`). An empty id asks for one. */
  readonly spec: TaskSpec
  readonly onConflict: OnConflict
  /** '' = none. */
  readonly requestId: string
  readonly payloadField: PayloadField
  /** What was found while it was read; the rules add to it. */
  readonly violations: Violation[]
  /** Fields that this server does not know, such as `task: field 31`: a newer client's. Never dropped in silence. */
  readonly unknownFields: readonly string[]
}

/** What became of it. `logPosition`: results of this task come after it. */
export interface Scheduled {
  readonly task: Task
  readonly created: boolean
  readonly logPosition: LogPosition
}

/** One answer for each call, in order. */
export type ScheduleAnswer = Scheduled | SchedulerError
