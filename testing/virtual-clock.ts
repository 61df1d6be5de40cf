import type { Clock, Timer } from '../server/clock.js'
import type { Instant } from '../server/task/instant.js'

/** Turns of the event loop without any question to the clock after which nothing is under way any more: every part reads the clock or sets a timer when it acts. */
const QUIET_TURNS = 4

interface Waiting {
  /** Steady clock. */
  at: number
  /** Of those for the same time, the first set is the first called. */
  readonly order: number
  readonly fn: () => void
  /** Set for alarms: the wall-clock instant, which a step brings closer or moves away. */
  readonly instant?: Instant
}

/**
 * A clock that stands still until it is told to go on. `advance` stops at each instant at which something falls due and lets all that follows from it happen,
 * so a year passes in as long as its events take.
 *
 * @example
 * const clock = new VirtualClock({ startTime: Date.UTC(2030, 0, 1) })
 * clock.setTimer(60_000, () => console.log('a minute later'))
 * await clock.advance(60_000)
 */
export class VirtualClock implements Clock {
  #steady = 0
  #offset: number
  #order = 0
  #questions = 0
  readonly #waiting: Waiting[] = []

  /** @param options.startTime - Default 2030-01-01T00:00:00Z. */
  constructor({ startTime = Date.UTC(2030, 0, 1) }: { readonly startTime?: Instant } = {}) {
    this.#offset = startTime
  }

  now(): Instant {
    this.#questions++
    return this.#steady + this.#offset
  }

  nowMicros(): number {
    return this.now() * 1_000
  }

  steady(): number {
    this.#questions++
    return this.#steady
  }

  setTimer(delayMs: number, fn: () => void): Timer {
    if (!(delayMs >= 0 && delayMs < Infinity)) {
      throw new RangeError(`delayMs must be a finite number of 0 or more, got ${delayMs}`)
    }
    return this.#wait({ at: this.#steady + Math.ceil(delayMs), order: this.#order++, fn })
  }

  setAlarm(at: Instant, fn: () => void): Timer {
    return this.#wait({ at: at - this.#offset, order: this.#order++, fn, instant: at })
  }

  /**
   * Lets `ms` pass. At each instant at which timers or alarms fall due they are called, and commits, attempts and answers that follow come to rest, before time
   * goes on. An attempt that waits for something outside, or on its virtual `sleep`, is not waited for.
   */
  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`ms must be 0 or more, got ${ms}`)
    const until = this.#steady + Math.ceil(ms)
    await this.settle()
    for (let next = this.#waiting[0]; next && next.at <= until; next = this.#waiting[0]) {
      this.#steady = Math.max(this.#steady, next.at)
      this.#callDue()
      await this.settle()
    }
    this.#steady = until
  }

  /** Lets time pass until the wall clock reads `instant`. */
  async advanceTo(instant: Instant): Promise<void> {
    await this.advance(Math.max(0, instant - this.#offset - this.#steady))
  }

  /** Sets the wall clock by `ms`, forward or, when negative, back. Time does not pass; whoever waits for an instant is told to look again. */
  async step(ms: number): Promise<void> {
    this.#offset += ms
    for (const waiting of this.#waiting) if (waiting.instant !== undefined) waiting.at = this.#steady
    this.#waiting.sort(byTime)
    this.#callDue()
    await this.settle()
  }

  /** Waits until nothing happens any more without time going on. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; ) {
      const before = this.#questions
      await new Promise<void>((resolve) => setImmediate(resolve))
      quiet = this.#questions === before ? quiet + 1 : 0
      if (this.#callDue()) quiet = 0
    }
  }

  /** @returns whether anything was due. */
  #callDue(): boolean {
    let called = false
    for (let next = this.#waiting[0]; next && next.at <= this.#steady; next = this.#waiting[0]) {
      this.#waiting.shift()
      called = true
      next.fn()
    }
    return called
  }

  #wait(waiting: Waiting): Timer {
    this.#questions++
    let low = 0
    let high = this.#waiting.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#waiting[middle]
      if (other && byTime(other, waiting) <= 0) low = middle + 1
      else high = middle
    }
    this.#waiting.splice(low, 0, waiting)
    return {
      cancel: () => {
        const index = this.#waiting.indexOf(waiting)
        if (index >= 0) this.#waiting.splice(index, 1)
      },
    }
  }
}

const byTime = (a: Waiting, b: Waiting): number => a.at - b.at || a.order - b.order
