import type { Clock, Timer } from '../clock.js'
import type { Log } from '../task/log.js'
import type { ThreadSeat } from './thread-seat.js'
import type { ThreadTimes } from './thread-times.js'

interface Seen {
  heartbeat: number
  /** When it last changed, on the steady clock. */
  since: number
  retiredAt: number | undefined
}

/** Watches shared threads, where one handler can hold up all others: whether the event loop turns, and whether what was given up has ended. */
export class SharedWatch {
  readonly #seats: ReadonlySet<ThreadSeat>
  readonly #times: ThreadTimes
  readonly #clock: Clock
  readonly #log: Log
  readonly #seen = new WeakMap<ThreadSeat, Seen>()
  #timer: Timer | undefined
  #isClosed = false

  constructor(seats: ReadonlySet<ThreadSeat>, times: ThreadTimes, clock: Clock, log: Log) {
    this.#seats = seats
    this.#times = times
    this.#clock = clock
    this.#log = log
  }

  /** To be called when a thread was given attempts: without any, nothing is watched. */
  wake(): void {
    if (this.#timer !== undefined || this.#isClosed) return
    this.#timer = this.#clock.setTimer(this.#times.watchMs, () => {
      this.#timer = undefined
      let isAnyBusy = false
      for (const seat of this.#seats) {
        if (seat.load > 0) {
          isAnyBusy = true
          this.#check(seat)
          // an idle thread does not beat: what was seen before says nothing of its next work
        } else this.#seen.delete(seat)
      }
      if (isAnyBusy) this.wake()
    })
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  #check(seat: ThreadSeat): void {
    const now = this.#clock.steady()
    const { workerId, heartbeat, lingeringSince } = seat
    const seen = this.#seen.get(seat) ?? { heartbeat, since: now, retiredAt: undefined }
    this.#seen.set(seat, seen)
    if (seen.heartbeat !== heartbeat || !seat.isReady) {
      seen.heartbeat = heartbeat
      seen.since = now
    }
    if (now - seen.since >= this.#times.heartbeatLimitMs) {
      this.#log.warn('a handler blocks its shared thread: the thread is stopped by force and replaced', {
        workerId,
      })
      seat.terminate('blocked')
    } else if (seen.retiredAt !== undefined) {
      if (now - seen.retiredAt >= this.#times.lingerLimitMs) seat.terminate('lingered')
    } else if (lingeringSince !== undefined && now - lingeringSince >= this.#times.lingerLimitMs) {
      this.#log.warn('a stopped attempt does not end: its shared thread is replaced', { workerId })
      seen.retiredAt = now
      seat.retire()
    }
  }
}
