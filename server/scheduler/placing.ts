import type { TaskStore } from '../store/task-store.js'
import type { Instant } from '../task/instant.js'
import { isLive } from '../task/task.js'
import type { DispatchCore } from './dispatch-core.js'
import type { LiveTask } from './live-task.js'
import type { LiveTasks } from './live-tasks.js'
import type { Window } from './window.js'

export interface PlacingParts {
  readonly core: DispatchCore
  readonly tasks: LiveTasks
  readonly window: Window
  readonly store: TaskStore
  readonly onFailed: (error: unknown) => void
}

/** Beyond capacity by this much, memory is cleared of what fits least. */
const TOLERANCE = 1.2

/** Puts each task where it belongs once nothing is under way with it: in line, back into the store until it is due, or out of memory. */
export class Placing {
  readonly #parts: PlacingParts
  #givenBack: number[] = []

  constructor(parts: PlacingParts) {
    this.#parts = parts
  }

  place(live: LiveTask, now: Instant): void {
    const { core, tasks, window } = this.#parts
    // it waits in line, its attempt runs, or what is left of one does
    if (live.place >= 0 || live.startId !== 0 || live.lingering) return
    core.settled(live)
    const { task } = live
    if (!isLive(task.state)) {
      // opened again, it is no longer ours
      live.taken = false
      tasks.remove(live)
    } else if (live.taken && !task.paused && task.notBefore <= now + window.windowMs) {
      core.add(live, now)
      return
    } else {
      if (live.taken) this.#giveBack(live)
      tasks.remove(live)
      if (!task.paused) window.announce(task.notBefore)
    }
    window.changedOutside(task)
  }

  /** Gives those back that fit least, if there are too many: what is due latest, or of the due what comes last. */
  makeRoom(capacity: number, now: Instant): void {
    const { core, tasks, window } = this.#parts
    if (window.isLoading || core.startable <= capacity * TOLERANCE) return
    const waiting = [...core]
      .filter(({ where }) => where === 'pending' || where === 'ready')
      .toSorted((a, b) => core.line.compare(a, b, now))
    for (const live of waiting.slice(capacity)) {
      core.remove(live)
      this.#giveBack(live)
      tasks.remove(live)
      window.gaveBack(live.task, now)
    }
  }

  /** Tells the store what it may hand out again. */
  flush(): void {
    if (this.#givenBack.length === 0) return
    const arrivals = this.#givenBack
    this.#givenBack = []
    this.#parts.store.giveBack(arrivals).catch((error: unknown) => {
      this.#givenBack.push(...arrivals)
      this.#parts.onFailed(error)
    })
  }

  /** The store may hand these out again. */
  giveBack(arrivals: readonly number[]): void {
    for (const arrival of arrivals) this.#givenBack.push(arrival)
  }

  #giveBack(live: LiveTask): void {
    live.taken = false
    this.#givenBack.push(live.task.arrival)
  }
}
