import { Slices } from '../../server/clock/slices.js'
import { VirtualClock } from '../../testing/virtual-clock.js'

/** Each look at this clock is a second later than the one before, so that every slice is over at once. */
export class HurryingClock extends VirtualClock {
  #looks = 0

  override steady(): number {
    return ++this.#looks * 1_000
  }
}

/** Pauses wherever there may be a pause. */
export const hurried = (): Slices => new Slices(new HurryingClock())

/** Never pauses: on virtual time no work takes long. */
export const unhurried = (): Slices => new Slices(new VirtualClock())
