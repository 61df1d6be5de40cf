import type { Clock } from '../clock.js'
import { Turns } from './turns.js'

/** Work of one piece after which others have their turn: as long as a tick of the clock they would be late by anyway. */
const SLICE_MS = 3
/** Pieces between two looks at the clock: a batch of a usual size is over before the first slice is. */
const LOOK_EVERY = 32

/** All such work of this thread. */
const turns = new Turns()

/**
 * Takes long work apart, so that it does not hold up what else the thread has to do: all such work of a thread gets one slice for each turn of the event loop.
 *
 * @example
 * const slices = new Slices(clock)
 * for (const task of tasks) {
 *   const pause = slices.next()
 *   if (pause) await pause
 *   check(task)
 * }
 */
export class Slices {
  readonly #clock: Clock
  #pieces = 0
  #since: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Asked before each piece. undefined: go on; a promise: when it resolves, so that work which is not long pays for none. */
  next(): Promise<void> | undefined {
    if (this.#pieces++ % LOOK_EVERY !== 0) return undefined
    const now = this.#clock.steady()
    this.#since ??= now
    return now - this.#since < SLICE_MS ? undefined : this.#pause()
  }

  async #pause(): Promise<void> {
    await turns.next()
    this.#since = this.#clock.steady()
  }
}
