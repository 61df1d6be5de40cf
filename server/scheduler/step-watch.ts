import type { Clock } from '../clock.js'
import type { Recovery } from '../store/task-store.js'
import type { Instant } from '../task/instant.js'

/** Less than this is slewing, or the rounding of readings. */
export const LEAST_STEP_MS = 250

/** Notices when the wall clock is set: it moves against the steady clock, or goes back. */
export class StepWatch {
  readonly #clock: Clock
  #wall: Instant
  #steady: number

  constructor(clock: Clock, now: Instant) {
    this.#clock = clock
    this.#wall = now
    this.#steady = clock.steady()
  }

  /** @returns by how much the wall clock was set since the last reading, in milliseconds; 0 = it was not. */
  read(now: Instant): number {
    const steady = this.#clock.steady()
    const step = now - this.#wall - (steady - this.#steady)
    const isBack = now < this.#wall
    this.#wall = now
    this.#steady = steady
    return isBack || Math.abs(step) >= LEAST_STEP_MS ? step : 0
  }
}

/** Whether the wall clock was set back while no server ran: then the store knows of a later time. */
export const wasSetBack = ({ lastChange }: Recovery, now: Instant): boolean =>
  lastChange > now + LEAST_STEP_MS
