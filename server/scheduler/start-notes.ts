import type { AttemptStart, TaskStore } from '../store/task-store.js'
import type { Task } from '../task/task.js'
import type { LiveTask } from './live-task.js'

/** Notes in the store that attempts have begun, many in one call. One that ended before its note was sent needs none: its ending says it all. */
export class StartNotes {
  readonly #store: TaskStore
  readonly #onFailed: (error: unknown) => void
  #begun: LiveTask[] = []

  constructor(store: TaskStore, onFailed: (error: unknown) => void) {
    this.#store = store
    this.#onFailed = onFailed
  }

  add(live: LiveTask): void {
    this.#begun.push(live)
  }

  flush(): void {
    if (this.#begun.length === 0) return
    const running = this.#begun.filter((live) => live.startId !== 0 && live.task.startId === live.startId)
    this.#begun = []
    if (running.length === 0) return
    this.#store.start(running.map(({ task }) => attemptStart(task))).catch((error: unknown) => {
      this.#begun.push(...running)
      this.#onFailed(error)
    })
  }
}

export function attemptStart({ arrival, startId, startTimeUs, attempts }: Task): AttemptStart {
  return { arrival, startId, startTimeUs, attempts }
}
