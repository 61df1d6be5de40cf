import type { Clock } from '../clock.js'
import { SchedulerError } from '../task/errors.js'

/** The writes of one store that are under way, and how the last one ended. */
export class StoreCalls {
  readonly #clock: Clock
  /** When each began; the first is the oldest. */
  readonly #open = new Set<{ readonly since: number }>()
  #failure: string | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** When the oldest write that is not answered began, on the steady clock. */
  get oldest(): number | undefined {
    for (const { since } of this.#open) return since
    return undefined
  }

  /** Why the last write was refused; undefined: it was taken. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Runs a write, and knows of it until it is answered. */
  async watch<T>(write: () => Promise<T>): Promise<T> {
    const call = { since: this.#clock.steady() }
    this.#open.add(call)
    try {
      const answer = await write()
      this.#failure = undefined
      return answer
    } catch (error) {
      // by its reason: its class does not come through a thread
      if (error instanceof SchedulerError && error.reason === 'STORE_UNAVAILABLE')
        this.#failure = error.message
      throw error
    } finally {
      this.#open.delete(call)
    }
  }
}
