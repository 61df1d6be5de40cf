import type { Timer } from '../../server/clock.js'
import { VirtualClock } from '../../testing/virtual-clock.js'

/** A clock of which parts go wrong. */
export class FaultyClock extends VirtualClock {
  /** Timers that are set from now on fire so much later. */
  timersLateMs = 0
  /** Alarms that are set from now on fire so much later; Infinity = never. */
  alarmsLateMs = 0

  override setTimer(delayMs: number, fn: () => void): Timer {
    return super.setTimer(delayMs + this.timersLateMs, fn)
  }

  override setAlarm(at: number, fn: () => void): Timer {
    if (this.alarmsLateMs === Infinity) return { cancel() {} }
    return super.setAlarm(at + this.alarmsLateMs, fn)
  }
}
