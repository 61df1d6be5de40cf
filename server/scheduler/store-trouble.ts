import type { Clock, Timer } from '../clock.js'
import type { Log } from '../task/log.js'

const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 2_000

/**
 * Whether the store commits at present. After a failure it is asked again and again, at growing intervals, until it does; meanwhile nothing new starts, and
 * endings are kept.
 */
export class StoreTrouble {
  readonly #clock: Clock
  readonly #log: Log
  /** Tries to store something; what becomes of it is told by `failed` or `worked`. */
  readonly #probe: () => void
  #since: number | undefined
  #retryMs = FIRST_RETRY_MS
  #timer: Timer | undefined

  constructor(clock: Clock, log: Log, probe: () => void) {
    this.#clock = clock
    this.#log = log
    this.#probe = probe
  }

  get isThere(): boolean {
    return this.#since !== undefined
  }

  failed(error: unknown): void {
    if (this.#since === undefined) {
      this.#since = this.#clock.steady()
      this.#log.error('the store does not commit: nothing starts until it does, endings are kept', { error })
    }
    if (this.#timer) return
    this.#timer = this.#clock.setTimer(this.#retryMs, () => {
      this.#timer = undefined
      this.#probe()
    })
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS)
  }

  /** @returns whether it had been in trouble. */
  worked(): boolean {
    if (this.#since === undefined) return false
    this.#log.info('the store commits again', { afterMs: Math.round(this.#clock.steady() - this.#since) })
    this.#since = undefined
    this.#retryMs = FIRST_RETRY_MS
    this.stop()
    return true
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
