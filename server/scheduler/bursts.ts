import { type Lane, MAX_BURST } from '../executor/executor.js'
import { isQuarantined } from '../task/interruption.js'
import type { HandlerWork } from './handler-work.js'
import type { Burst, LiveTask } from './live-task.js'

/** Work that a slot is given at once: enough to make the way to the thread cheap, little enough that what becomes due is not kept waiting. */
const BURST_MS = 5

interface OpenBurst {
  readonly burst: Burst
  readonly handler: string
  /** Estimated work so far. */
  ms: number
}

/**
 * Deals due tasks to free slots in their order: first one to each slot, then, if more are due than slots are free, further ones behind those of the same
 * handler, as long as a slot has little work. Only in the `thread` lane; quarantined tasks stay alone.
 */
export class BurstDealer {
  readonly bursts: Burst[] = []
  readonly #lane: Lane
  readonly #work: HandlerWork
  readonly #open: OpenBurst[] = []
  #free: number

  constructor(lane: Lane, freeSlots: number, work: HandlerWork) {
    this.#lane = lane
    this.#free = freeSlots
    this.#work = work
  }

  /** @returns whether the task has found a slot. */
  deal(live: LiveTask): boolean {
    const { handler } = live.task.spec
    const ms = this.#work.estimate(handler)
    if (this.#free > 0) {
      this.#free--
      const burst: Burst = { lane: this.#lane, members: [live], open: 1 }
      live.burst = burst
      this.bursts.push(burst)
      if (ms < BURST_MS && !isQuarantined(live.task)) this.#open.push({ burst, handler, ms })
      return true
    }
    if (this.#lane === 'shared' || isQuarantined(live.task)) return false
    const place = this.#leastLoaded(handler, ms)
    if (!place) return false
    place.burst.members.push(live)
    place.burst.open++
    live.burst = place.burst
    place.ms += ms
    return true
  }

  #leastLoaded(handler: string, ms: number): OpenBurst | undefined {
    let least: OpenBurst | undefined
    for (const open of this.#open) {
      if (open.handler !== handler || open.ms + ms > BURST_MS || open.burst.members.length >= MAX_BURST)
        continue
      if (!least || open.ms < least.ms) least = open
    }
    return least
  }
}
