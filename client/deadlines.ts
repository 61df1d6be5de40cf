import type { ClientClock, ClientTimer } from './client-clock.js'

/** Something that must be done by an instant of the steady clock. */
export interface Timed {
  readonly endAt: number
  /** Called when that instant has come. */
  expire(): void
}

/** The deadlines of many calls under one timer: a timer for each would be a good part of what a call costs. */
export class Deadlines {
  readonly #clock: ClientClock
  readonly #open = new Set<Timed>()
  #timer: ClientTimer | undefined
  #firesAt = Infinity

  constructor(clock: ClientClock) {
    this.#clock = clock
  }

  add(timed: Timed): void {
    this.#open.add(timed)
    if (timed.endAt < this.#firesAt) this.#arm(timed.endAt)
  }

  /** It is done: its deadline does not matter any more. */
  delete(timed: Timed): void {
    this.#open.delete(timed)
    if (this.#open.size > 0) return
    // a timer that nobody needs must not keep the process
    this.#timer?.cancel()
    this.#firesAt = Infinity
  }

  #arm(at: number): void {
    this.#timer?.cancel()
    this.#firesAt = at
    this.#timer = this.#clock.setTimer(Math.max(0, at - this.#clock.steady()), () => this.#fire())
  }

  #fire(): void {
    this.#firesAt = Infinity
    const now = this.#clock.steady()
    let next = Infinity
    for (const timed of this.#open) {
      if (timed.endAt <= now) timed.expire()
      else next = Math.min(next, timed.endAt)
    }
    if (next < this.#firesAt && this.#open.size > 0) this.#arm(next)
  }
}
