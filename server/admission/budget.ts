import type { Clock } from '../clock.js'
import type { TaskStore } from '../store/task-store.js'
import { SchedulerError } from '../task/errors.js'
import type { AdmissionLimits } from './limits.js'

/** How old the store's counts may be while there is plenty of room. */
const FRESH_MS = 1_000
const RETRY_AFTER_MS = 1_000

/**
 * Room for new tasks. The store's counts are read once a second and tasks added since are counted here, so that the way of a task pays no read; near a limit they are
 * read again before anything is refused.
 */
export class Budget {
  readonly #store: Pick<TaskStore, 'stats'>
  readonly #clock: Clock
  readonly #limits: AdmissionLimits
  #waiting = 0
  #bytes = 0
  #added = 0
  #readAt: number | undefined
  #reading: Promise<void> | undefined

  constructor(store: Pick<TaskStore, 'stats'>, clock: Clock, limits: AdmissionLimits) {
    this.#store = store
    this.#clock = clock
    this.#limits = limits
  }

  /** Why `count` more tasks are refused, if they are. A promise only when the counts have to be read first. */
  check(count: number): SchedulerError | undefined | Promise<SchedulerError | undefined> {
    if (this.#readAt === undefined) return this.#read().then(() => this.#refusal(count))
    if (this.#refusal(count)) return this.#read().then(() => this.#refusal(count))
    // a failure shows at the insert itself
    if (this.#clock.steady() - this.#readAt > FRESH_MS) this.#read().catch(() => {})
    return undefined
  }

  /** Counts tasks that were stored. */
  added(count: number): void {
    this.#added += count
  }

  #refusal(count: number): SchedulerError | undefined {
    const { maxWaitingTasks, maxStoreBytes } = this.#limits
    if (this.#waiting + this.#added + count > maxWaitingTasks) {
      return new SchedulerError(
        'TOO_MANY_TASKS',
        `at most ${maxWaitingTasks} tasks may wait (max_waiting_tasks): wait until some have run, or cancel some`,
        { limit: String(maxWaitingTasks) },
        RETRY_AFTER_MS,
      )
    }
    if (this.#bytes >= maxStoreBytes) {
      return new SchedulerError(
        'STORE_FULL',
        `the store has reached its budget of ${maxStoreBytes} bytes (max_store_bytes): shorten what is kept, or raise it`,
        { limit: String(maxStoreBytes) },
        RETRY_AFTER_MS,
      )
    }
    return undefined
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readNow(): Promise<void> {
    const stats = await this.#store.stats()
    this.#waiting = stats.states.scheduled
    this.#bytes = stats.bytes
    this.#added = 0
    this.#readAt = this.#clock.steady()
  }
}
