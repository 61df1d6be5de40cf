import type { TaskStore } from '../store/task-store.js'

/** Start ids that this process may give out, reserved in blocks ahead of need, so that no start waits for the store. A block grows when it did not last. */
export class StartIds {
  readonly #store: TaskStore
  readonly #onReserved: () => void
  readonly #onFailed: (error: unknown) => void
  #block: number
  #next = 0
  #end = 0
  #following: { readonly next: number; readonly end: number } | undefined
  #asked = false

  constructor(store: TaskStore, block: number, onReserved: () => void, onFailed: (error: unknown) => void) {
    this.#store = store
    this.#block = block
    this.#onReserved = onReserved
    this.#onFailed = onFailed
  }

  /** How many can be given out now. */
  get left(): number {
    return this.#end - this.#next + (this.#following ? this.#following.end - this.#following.next : 0)
  }

  /** @returns an id that was never given out before. The caller has looked at `left`. */
  take(): number {
    if (this.#next === this.#end && this.#following) {
      this.#next = this.#following.next
      this.#end = this.#following.end
      this.#following = undefined
    }
    if (this.#next === this.#end) throw new Error('no start id is left')
    return this.#next++
  }

  /** Asks the store for the next block, if it is time to. */
  reserveAhead(): void {
    if (this.#asked || this.#following) return
    if (this.left === 0 && this.#end > 0) this.#block = Math.min(this.#block * 2, 100_000)
    void this.#reserve(this.#block)
  }

  async #reserve(count: number): Promise<void> {
    this.#asked = true
    try {
      const first = await this.#store.reserveStartIds(count)
      this.#following = { next: first, end: first + count }
      this.#onReserved()
    } catch (error) {
      this.#onFailed(error)
    } finally {
      this.#asked = false
    }
  }
}
