import type { Clock } from '../clock.js'
import type { Log } from '../task/log.js'
import type { ExecutorEvents } from './executor.js'
import type { ThreadEnding } from './pool-errors.js'
import type { ThreadSeat } from './thread-seat.js'
import type { ThreadOptions } from './thread-session.js'
import type { ThreadTimes } from './thread-times.js'

/** What a seat is made of, and whom it tells. */
export interface SeatParts {
  readonly workerId: string
  readonly options: ThreadOptions
  /** Attempts in hand at once. */
  readonly rows: number
  /** The thread starts only after this long: those before it died at their start. */
  readonly delayMs: number
  /** For one burst only: then the thread is stopped. */
  readonly solo: boolean
  readonly times: ThreadTimes
  readonly clock: Clock
  readonly log: Log
  readonly events: ExecutorEvents
  /** Its handlers are loaded. */
  ready(seat: ThreadSeat): void
  /** It takes no attempts any more: another seat has to. Before `gone`, at the latest with it. */
  retired(seat: ThreadSeat): void
  /** Its thread is gone and all that it had in hand is over, but not yet told. */
  gone(seat: ThreadSeat, ending: ThreadEnding): void
}
