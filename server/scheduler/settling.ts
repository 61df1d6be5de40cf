import type { UpdateAnswer } from '../store/task-store.js'
import { SchedulerError, TaskNotFoundError } from '../task/errors.js'
import type { Instant } from '../task/instant.js'
import type { Log } from '../task/log.js'
import type { Attempts } from './attempts.js'
import type { Changes } from './changes.js'
import type { Commit } from './commits.js'
import type { DispatchCore } from './dispatch-core.js'
import type { LiveTask } from './live-task.js'
import type { LiveTasks } from './live-tasks.js'
import type { Placing } from './placing.js'

export interface SettlingParts {
  readonly core: DispatchCore
  readonly tasks: LiveTasks
  readonly placing: Placing
  readonly attempts: Attempts
  readonly changes: Changes
  readonly log: Log
}

/** What happens to a task when the store has answered, and whenever nothing is under way with it any more. */
export class Settling {
  readonly #parts: SettlingParts

  constructor(parts: SettlingParts) {
    this.#parts = parts
  }

  /** The store has answered: the new state holds, or the old one does. */
  settled(commit: Commit, answer: UpdateAnswer | Error, now: Instant): void {
    const { live } = commit
    live.busy = false
    if (this.#isKnown(commit, answer)) {
      if (live.stopping && live.startId === 0) {
        live.stopping.answer(live.task)
        live.stopping = undefined
      }
      this.goOn(live, now)
    }
  }

  /** What waits for a task that is free, in turn: a start that was told, its attempt's end, what was asked; then it goes to its place. */
  goOn(live: LiveTask, now: Instant): void {
    const { attempts, changes, placing } = this.#parts
    if (live.begunUs !== 0 && live.startId !== 0) attempts.noteBegun(live)
    if (live.end || live.returned) {
      attempts.conclude(live, now)
      return
    }
    for (let ask = live.asks?.shift(); ask; ask = live.asks?.shift()) {
      changes.run(live, ask, now)
      if (live.busy) return
    }
    placing.place(live, now)
  }

  /** Takes the answer in. @returns whether the task is known to the store. */
  #isKnown({ live, transition, ask }: Commit, answer: UpdateAnswer | Error): boolean {
    if (answer instanceof Error) {
      if (answer instanceof SchedulerError) ask?.answer(answer)
      else ask?.fail(answer)
      return true
    }
    if (answer.kind === 'stored') {
      live.task = transition.task
      if (ask && !ask.afterwards?.(live, ask)) ask.answer(live.task)
      return true
    }
    const { core, tasks, log } = this.#parts
    const { id } = live.task.spec
    log.warn('the store refused a new state of a task: it knows a newer one', {
      taskId: id,
      startId: live.task.startId,
    })
    if (answer.stored) {
      live.task = answer.stored
      ask?.answer(live.task)
      return true
    }
    core.settled(live)
    tasks.remove(live)
    ask?.answer(new TaskNotFoundError(id))
    return false
  }
}
