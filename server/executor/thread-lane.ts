import type { Clock, Timer } from '../clock.js'
import type { Log } from '../task/log.js'
import { type AttemptRequest, type ExecutorEvents, type Lane, MAX_BURST } from './executor.js'
import type { ThreadEnding } from './pool-errors.js'
import { ReadyWaits } from './ready-waits.js'
import { ThreadSeat } from './thread-seat.js'
import type { ThreadOptions } from './thread-session.js'
import type { ThreadTimes } from './thread-times.js'

export interface LaneParts {
  readonly lane: Lane
  /** Bursts at once. */
  readonly slots: number
  readonly options: ThreadOptions
  /** Heap for a handler, in MiB. */
  readonly memoryLimitFor: (handler: string) => number
  readonly times: ThreadTimes
  readonly clock: Clock
  readonly log: Log
  readonly events: ExecutorEvents
}

/** The threads of a lane: in `thread`, one for each slot; in `shared`, one for all. Whoever falls away is replaced. */
export class ThreadLane {
  readonly #parts: LaneParts
  readonly #seats = new Set<ThreadSeat>()
  readonly #waits = new ReadyWaits()
  /** Threads that died at their start, one after another. */
  #failedStarts = 0
  #isWarm = false
  #isClosed = false
  #idleTimer: Timer | undefined

  constructor(parts: LaneParts) {
    this.#parts = parts
  }

  get seats(): ReadonlySet<ThreadSeat> {
    return this.#seats
  }

  /** Starts the threads before they are needed, and again when they fall away. */
  warm(): void {
    this.#isWarm = true
    const { lane, slots, options } = this.#parts
    const wanted = lane === 'shared' ? 1 : slots
    const isDefault = (seat: ThreadSeat) => seat.isOpen && seat.memoryLimitMb === options.memoryLimitMb
    for (let open = [...this.#seats].filter(isDefault).length; open < wanted; open++)
      this.#open(options.memoryLimitMb)
  }

  /**
   * Resolves when all its threads have loaded their handlers.
   *
   * @throws what the first thread that could not start said.
   */
  ready(): Promise<void> {
    return this.#waits.wait(this.#seats)
  }

  start(burst: readonly AttemptRequest[]): void {
    const [first] = burst
    if (first === undefined) return
    if (burst.length > MAX_BURST)
      throw new RangeError(`a burst has at most ${MAX_BURST} members, got ${burst.length}`)
    if (burst.length > 1 && burst.some(({ alone }) => alone))
      throw new RangeError('an attempt in quarantine is a burst of its own')
    this.#seatFor(first).run(burst)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#idleTimer?.cancel()
    await Promise.all([...this.#seats].map((seat) => seat.close()))
    this.#seats.clear()
  }

  #seatFor(first: AttemptRequest): ThreadSeat {
    const { lane, slots, memoryLimitFor } = this.#parts
    if (lane === 'shared') {
      const { memoryLimitMb } = this.#parts.options
      if (first.alone) return this.#open(memoryLimitMb, true)
      return [...this.#seats].find((seat) => seat.isOpen) ?? this.#open(memoryLimitMb)
    }
    const limit = memoryLimitFor(first.handler)
    let found: ThreadSeat | undefined
    let busy = 0
    for (const seat of this.#seats) {
      if (seat.load > 0) busy++
      else if (seat.isOpen && seat.memoryLimitMb === limit && !found?.isReady) found = seat
    }
    if (found !== undefined) return found
    if (busy >= slots) throw new Error(`no slot of lane ${lane} is free: all ${slots} are busy`)
    return this.#open(limit)
  }

  #open(memoryLimitMb: number, solo = false): ThreadSeat {
    const { lane, slots, times, clock, log, events, options } = this.#parts
    const seat = new ThreadSeat({
      workerId: this.#freeWorkerId(),
      options: { ...options, memoryLimitMb },
      rows: solo ? 1 : lane === 'shared' ? slots + MAX_BURST : MAX_BURST,
      delayMs: this.#restartDelay(),
      solo,
      times,
      clock,
      log,
      events,
      ready: () => {
        this.#failedStarts = 0
        this.#waits.look(this.#seats)
      },
      retired: () => this.#replace(),
      gone: (gone, ending) => this.#gone(gone, ending),
    })
    this.#seats.add(seat)
    if (memoryLimitMb !== options.memoryLimitMb) this.#endIdleLater()
    return seat
  }

  #gone(seat: ThreadSeat, ending: ThreadEnding): void {
    this.#seats.delete(seat)
    if (!seat.isReady && !seat.isTerminating) {
      this.#failedStarts++
      this.#parts.log.error('a worker thread could not start', {
        workerId: seat.workerId,
        error: ending.message,
      })
      this.#waits.fail(new Error(`a worker thread could not start: ${ending.message}`))
    }
    this.#replace()
  }

  #replace(): void {
    if (this.#isWarm && !this.#isClosed) this.warm()
  }

  #restartDelay(): number {
    const { restartDelayMs, maxRestartDelayMs } = this.#parts.times
    if (this.#failedStarts === 0) return 0
    return Math.min(maxRestartDelayMs, restartDelayMs * 2 ** (this.#failedStarts - 1))
  }

  /** The lowest that is free: metrics and people meet a few names, not a new one for each thread. */
  #freeWorkerId(): string {
    const taken = new Set([...this.#seats].map(({ workerId }) => workerId))
    let number = 1
    while (taken.has(`${this.#parts.lane}-${number}`)) number++
    return `${this.#parts.lane}-${number}`
  }

  /** Threads for handlers with a limit of their own are not kept without work. */
  #endIdleLater(): void {
    const { clock, times, options } = this.#parts
    this.#idleTimer ??= clock.setTimer(times.idleLimitMs, () => {
      this.#idleTimer = undefined
      const special = [...this.#seats].filter(({ memoryLimitMb }) => memoryLimitMb !== options.memoryLimitMb)
      const since = clock.steady() - times.idleLimitMs
      for (const seat of special) if (seat.load === 0 && seat.lastRun <= since) seat.terminate()
      if (special.some((seat) => seat.isOpen)) this.#endIdleLater()
    })
  }
}
