import type { TaskStore } from '../store/task-store.js'
import { SchedulerError, StoreUnavailableError, TaskNotFoundError } from '../task/errors.js'
import type { Instant } from '../task/instant.js'
import type { Task } from '../task/task.js'
import type { Ask } from './ask.js'
import type { Commits } from './commits.js'
import type { DispatchCore } from './dispatch-core.js'
import { LiveTask } from './live-task.js'
import type { LiveTasks } from './live-tasks.js'
import type { StoreTrouble } from './store-trouble.js'

const NOT_YET = 'what happened to the task before is not stored yet'

export interface ChangesParts {
  readonly store: TaskStore
  readonly core: DispatchCore
  readonly tasks: LiveTasks
  readonly commits: Commits
  readonly trouble: StoreTrouble
  /** Something was asked for: look soon. */
  readonly wake: () => void
  /** The task is free: what waits for it can go on. */
  readonly goOn: (live: LiveTask) => void
}

/**
 * Changes that callers ask for, one at a time for each task, in the order in which they came. While a change is being stored the waiting task is held back, so
 * that a cancelled one cannot start; a change that cannot be stored leaves it where it was.
 */
export class Changes {
  readonly #parts: ChangesParts
  #new: Ask[] = []
  /** Tasks that are not in memory and are being read, with what is asked of them. */
  readonly #loading = new Map<string, Ask[]>()

  constructor(parts: ChangesParts) {
    this.#parts = parts
  }

  get open(): number {
    return this.#new.length + this.#loading.size
  }

  /** @returns the task as it is on disk after the change, or why it cannot be. */
  ask(ask: Omit<Ask, 'answer' | 'fail'>): Promise<Task | SchedulerError> {
    return new Promise((answer, fail) => {
      this.#new.push({ ...ask, answer, fail })
      this.#parts.wake()
    })
  }

  /** Deals with what was asked for since the last look. */
  process(now: Instant): void {
    if (this.#new.length === 0) return
    const asks = this.#new
    this.#new = []
    const unknown: string[] = []
    for (const ask of asks) {
      const live = this.#parts.tasks.get(ask.id)
      const loading = this.#loading.get(ask.id)
      if (live) this.#runInTurn(live, ask, now)
      else if (loading) loading.push(ask)
      else {
        this.#loading.set(ask.id, [ask])
        unknown.push(ask.id)
      }
    }
    if (unknown.length > 0) void this.#load(unknown)
  }

  /** Does one change of a task that is free. */
  run(live: LiveTask, ask: Ask, now: Instant): void {
    const handedOut = live.startId !== 0 && live.task.state === 'scheduled'
    try {
      const change = ask.change(live.task, now, handedOut)
      if (!change) {
        ask.answer(live.task)
        return
      }
      if (live.place >= 0) this.#parts.core.remove(live)
      this.#parts.commits.add({ live, transition: change, ask })
    } catch (error) {
      if (error instanceof SchedulerError) ask.answer(error)
      else ask.fail(error)
    }
  }

  /** Now, or after what is being stored. */
  #runInTurn(live: LiveTask, ask: Ask, now: Instant): void {
    if (live.busy) {
      if (this.#parts.trouble.isThere) ask.answer(new StoreUnavailableError(NOT_YET))
      else (live.asks ??= []).push(ask)
      return
    }
    this.run(live, ask, now)
    if (!live.busy) this.#parts.goOn(live)
  }

  async #load(ids: readonly string[]): Promise<void> {
    try {
      const found = await this.#parts.store.get(ids)
      const asks = ids.flatMap((id, i) => this.#loaded(id, found[i]))
      this.#new = [...asks, ...this.#new]
      this.#parts.wake()
    } catch (error) {
      for (const ask of ids.flatMap((id) => this.#takeLoading(id))) {
        if (error instanceof SchedulerError) ask.answer(error)
        else ask.fail(error)
      }
    }
  }

  /** @returns what is asked of the task, now that it is in memory. */
  #loaded(id: string, found: Task | undefined): readonly Ask[] {
    const { tasks } = this.#parts
    const asks = this.#takeLoading(id)
    // it may have come into memory meanwhile: what is there is the newer
    if (tasks.get(id)) return asks
    if (found) {
      // a parked one is ours, also in the eyes of the store
      tasks.add(new LiveTask(found, this.#parts.core.parked.remove(id)))
      return asks
    }
    for (const ask of asks) ask.answer(new TaskNotFoundError(id))
    return []
  }

  #takeLoading(id: string): readonly Ask[] {
    const asks = this.#loading.get(id) ?? []
    this.#loading.delete(id)
    return asks
  }
}
