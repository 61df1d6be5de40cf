import type { Clock } from '../clock.js'
import type { Findings } from './findings.js'
import type { StoreCalls } from './store-calls.js'

/** A store that does not commit for longer than this: callers are better off elsewhere. */
const UNAVAILABLE_MS = 2_000

export interface StoreWatchParts {
  readonly clock: Clock
  readonly findings: Findings
  readonly calls: StoreCalls
  /** Whether the scheduler's writes are taken at present. */
  readonly isAvailable: () => boolean
  /** Writes something of no consequence. */
  readonly probe: () => Promise<unknown>
  readonly stallMs: number
}

/** Looks whether the store commits, and whether it answers at all. */
export class StoreWatch {
  readonly #parts: StoreWatchParts
  #isProbing = false
  /** Since when it does not commit, on the steady clock. */
  #since: number | undefined

  constructor(parts: StoreWatchParts) {
    this.#parts = parts
  }

  /** @returns whether it is out of service for so long that this server does not do its work. */
  look(): boolean {
    const { clock, findings, calls, isAvailable, stallMs } = this.#parts
    const steady = clock.steady()
    const waitsMs = calls.oldest === undefined ? 0 : steady - calls.oldest
    const fails = !isAvailable() || calls.failure !== undefined
    if (waitsMs >= stallMs) {
      const message = `the store has not answered for ${Math.round(waitsMs / 1_000)} s: the disk hangs, or its thread does`
      findings.isSo('STORE_UNAVAILABLE', '', message, clock.now() - waitsMs)
      return true
    }
    if (!fails) {
      this.#since = undefined
      findings.isOver('STORE_UNAVAILABLE', '')
      return false
    }
    this.#since ??= steady
    const why = calls.failure === undefined ? '' : `: ${calls.failure}`
    const message = `the store does not commit${why}. Nothing starts and nothing is accepted until it does; endings are kept`
    findings.isSo('STORE_UNAVAILABLE', '', message)
    // with no traffic nobody else would notice that it is back
    if (calls.oldest === undefined) void this.#probe()
    return steady - this.#since >= UNAVAILABLE_MS
  }

  async #probe(): Promise<void> {
    if (this.#isProbing) return
    this.#isProbing = true
    // what comes of it is counted with all other calls
    await this.#parts.probe().catch(() => {})
    this.#isProbing = false
  }
}
