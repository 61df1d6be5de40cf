import type { LiveTask } from './live-task.js'

/** The tasks in memory, by id and by the attempt that is handed out. */
export class LiveTasks {
  readonly #byId = new Map<string, LiveTask>()
  readonly #byStart = new Map<number, LiveTask>()
  #started = 0

  get handedOut(): number {
    return this.#byStart.size
  }

  /** Attempts handed out so far. */
  get started(): number {
    return this.#started
  }

  get(id: string): LiveTask | undefined {
    return this.#byId.get(id)
  }

  add(live: LiveTask): void {
    this.#byId.set(live.task.spec.id, live)
  }

  remove(live: LiveTask): void {
    this.#byId.delete(live.task.spec.id)
  }

  byStart(startId: number): LiveTask | undefined {
    return this.#byStart.get(startId)
  }

  handOut(live: LiveTask, startId: number): void {
    live.startId = startId
    this.#byStart.set(startId, live)
    this.#started++
  }

  /** Its attempt is over. */
  takeBack(live: LiveTask): void {
    this.#byStart.delete(live.startId)
    live.startId = 0
  }

  /** Every attempt that is handed out. */
  starts(): IterableIterator<number> {
    return this.#byStart.keys()
  }

  [Symbol.iterator](): IterableIterator<LiveTask> {
    return this.#byId.values()
  }
}
