import type { Instant } from '../task/instant.js'
import type { SchedulerError } from '../task/errors.js'
import type { Change } from '../task/requests.js'
import type { Task } from '../task/task.js'
import type { LiveTask } from './live-task.js'

/** A change of one task that somebody waits for. */
export interface Ask {
  readonly id: string
  /** The pure rule: what the task becomes. `handedOut`: it may begin at any moment. @throws SchedulerError when that cannot be. */
  readonly change: (task: Task, now: Instant, handedOut: boolean) => Change
  /** Runs once the change is on disk. True: it sees to the answer itself. */
  readonly afterwards?: (live: LiveTask, ask: Ask) => boolean
  readonly answer: (answer: Task | SchedulerError) => void
  /** For what nobody foresaw. */
  readonly fail: (error: unknown) => void
}
