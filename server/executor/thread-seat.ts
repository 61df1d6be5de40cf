import type { Timer } from '../clock.js'
import type { StopReason } from '../handlers/handler-context.js'
import { type AttemptInHand, AttemptsInHand, stopOutcome } from './attempts-in-hand.js'
import type { Death } from './death-verdict.js'
import type { AttemptRequest } from './executor.js'
import { News } from './news.js'
import type { ThreadEnding } from './pool-errors.js'
import { type FromThread, LOOK, type LogMessage } from './thread-protocol.js'
import type { SeatParts } from './seat-parts.js'
import { ThreadSession } from './thread-session.js'

/** A worker thread with the attempts that it was given: what they do to each other, their time-outs and stops, and the end of the thread. */
export class ThreadSeat {
  readonly workerId: string
  readonly memoryLimitMb: number
  readonly shared: boolean
  /** Loaded its handlers. */
  isReady = false
  isRetired = false
  /** It was we who ended its thread. */
  isTerminating = false
  /** When it was last given attempts, on the steady clock. */
  lastRun: number
  readonly #parts: SeatParts
  readonly #session: ThreadSession
  readonly #inHand: AttemptsInHand
  readonly #isTraced: boolean
  #why: Death['why'] = 'itself'
  #isLooking = false
  #looksAgain = false
  #isGone = false
  #poll: Timer | undefined
  #terminateTimer: Timer | undefined
  #startTimer: Timer | undefined

  constructor(parts: SeatParts) {
    const { options, workerId, rows } = parts
    this.#parts = parts
    this.workerId = workerId
    this.memoryLimitMb = options.memoryLimitMb
    this.shared = options.settings.shared
    this.#isTraced = options.settings.instrumentation !== ''
    this.#session = new ThreadSession(options, rows, {
      message: (message) => this.#hear(message),
      died: (ending) => this.#died(ending),
    })
    this.#inHand = new AttemptsInHand(this.#session.ledger, workerId, rows, !this.shared)
    this.lastRun = parts.clock.steady()
    if (parts.delayMs === 0) this.#session.open()
    else this.#startTimer = parts.clock.setTimer(parts.delayMs, () => this.#session.open())
  }

  /** Can be given attempts. */
  get isOpen(): boolean {
    return !this.isRetired && !this.#parts.solo
  }

  /** Attempts in hand, lingering ones included. */
  get load(): number {
    return this.#inHand.size
  }

  get heartbeat(): number {
    return this.#session.ledger.heartbeat
  }

  /** Given up longest ago, on the steady clock; undefined = none lingers. */
  get lingeringSince(): number | undefined {
    for (const { lingeringSince } of this.#inHand.all())
      if (lingeringSince !== undefined) return lingeringSince
    return undefined
  }

  run(burst: readonly AttemptRequest[]): void {
    this.lastRun = this.#parts.clock.steady()
    this.#session.send(this.#inHand.add(burst))
    this.#pollLater()
  }

  /** @returns false when it has no such attempt. */
  stop(startId: number, graceMs: number, reason: StopReason): boolean {
    const attempt = this.#inHand.get(startId)
    if (attempt === undefined) return false
    if (this.#inHand.withdraw(attempt)) {
      const endTimeUs = this.#parts.clock.nowMicros()
      const news = new News()
      const outcome = {
        kind: reason === 'timedOut' ? 'timedOut' : 'cancelled',
        stage: 'neverStarted',
      } as const
      news.ended.push({ startId, outcome, startTimeUs: 0, endTimeUs, workerId: '' })
      queueMicrotask(() => this.#tell(news))
      return true
    }
    this.#tellToStop(attempt, graceMs, reason)
    return true
  }

  /** Takes no more attempts; those that have begun may end, then the thread is stopped. */
  retire(): void {
    if (this.isRetired) return
    this.isRetired = true
    const news = new News()
    this.#inHand.withdrawAll(news)
    this.#parts.retired(this)
    this.#tell(news)
  }

  /** Stops the thread by force: everything in hand is over when it is gone. */
  terminate(why: Death['why'] = 'itself'): void {
    if (this.isTerminating || this.#isGone) return
    this.isTerminating = true
    this.#why = why
    this.retire()
    const { clock, times, log } = this.#parts
    this.#terminateTimer = clock.setTimer(times.terminateLimitMs, () => {
      // A thread cannot be interrupted inside a native call. Its attempt must not stay open for ever.
      log.warn('a worker thread did not end when it was stopped by force: it is in a native call', {
        workerId: this.workerId,
      })
      void this.#session.close()
      this.#died({
        code: 'WORKER_CRASHED',
        message: 'the worker thread did not end when it was stopped by force',
      })
    })
    this.#session.terminate()
  }

  /** The server stops: what runs is interrupted. Resolves when the thread is gone. */
  async close(): Promise<void> {
    if (this.#isGone) return
    this.isRetired = true
    this.#session.hear()
    for (const attempt of this.#inHand.all())
      if (this.#session.ledger.requestStop(attempt.row, 'serverStops')) attempt.stop ??= 'serverStops'
    const news = this.#end({ code: 'WORKER_EXITED', message: 'the server stops' })
    this.#tell(news)
    await this.#threadEnds()
  }

  /** Waits for the end of the thread, but not for a native call that it is in. */
  async #threadEnds(): Promise<void> {
    const { clock, times } = this.#parts
    let timer: Timer | undefined
    const patience = new Promise<void>((resolve) => {
      timer = clock.setTimer(times.closeLimitMs, resolve)
    })
    await Promise.race([this.#session.close(), patience])
    timer?.cancel()
  }

  #hear(message: FromThread): void {
    if (message === LOOK) {
      this.#session.ledger.lookBegins()
      this.#look()
      return
    }
    switch (message.kind) {
      case 'hello':
        this.isReady = true
        this.#parts.ready(this)
        break
      case 'ended': {
        const attempt = this.#inHand.get(message.startId)
        if (attempt !== undefined) attempt.outcome = message.outcome
        this.#look()
        break
      }
      case 'log':
        this.#log(message)
        break
      case 'spans':
        this.#parts.events.spans?.(message.spans)
        break
      case 'tainted':
        this.#parts.log.warn('a handler left an error behind that nobody caught: its thread is replaced', {
          workerId: this.workerId,
          error: message.why,
        })
        this.retire()
        break
    }
  }

  #look(): void {
    if (this.#isLooking) {
      this.#looksAgain = true
      return
    }
    const news = new News()
    for (const attempt of this.#inHand.look(news)) this.#armTimeout(attempt)
    if (this.#isTraced) {
      // Spans are told before the end of their attempt: those of whatever was found to have ended have been sent by now.
      this.#isLooking = true
      this.#session.hear()
      this.#isLooking = false
    }
    this.#tell(news)
    if (!this.#looksAgain) return
    this.#looksAgain = false
    this.#look()
  }

  /** Handlers that never return hide what ended before them in their burst, and that they have begun. */
  #pollLater(): void {
    if (this.#poll !== undefined || this.#isGone) return
    this.#poll = this.#parts.clock.setTimer(this.#parts.times.pollMs, () => {
      this.#poll = undefined
      this.#look()
      if (this.#inHand.mayHideNews) this.#pollLater()
    })
  }

  #armTimeout(attempt: AttemptInHand): void {
    const { timeoutMs, startId } = attempt.request
    if (timeoutMs === 0 || attempt.timer !== undefined) return
    attempt.timer = this.#parts.clock.setTimer(timeoutMs, () =>
      this.stop(startId, this.#parts.times.timeoutGraceMs, 'timedOut'),
    )
  }

  #tellToStop(attempt: AttemptInHand, graceMs: number, reason: StopReason): void {
    const { clock } = this.#parts
    const deadline = clock.steady() + graceMs
    if (
      attempt.lingeringSince !== undefined ||
      (attempt.stop !== undefined && attempt.stopDeadline <= deadline)
    )
      return
    if (attempt.stop === undefined) {
      // Ended meanwhile: its own outcome is about to be told.
      if (!this.#session.ledger.requestStop(attempt.row, reason)) return
      attempt.stop = reason
      this.#session.send({ kind: 'stop', startId: attempt.request.startId })
    }
    attempt.stopDeadline = deadline
    attempt.timer?.cancel()
    attempt.timer = clock.setTimer(graceMs, () => this.#stopByForce(attempt))
  }

  #stopByForce(attempt: AttemptInHand): void {
    this.#look()
    if (this.#inHand.get(attempt.request.startId) !== attempt || attempt.stop === undefined) return
    if (!this.shared) {
      this.terminate()
      return
    }
    const news = new News()
    const { clock } = this.#parts
    this.#inHand.giveUp(
      attempt,
      stopOutcome(attempt.stop, 'terminated'),
      clock.steady(),
      clock.nowMicros(),
      news,
    )
    this.#tell(news)
  }

  #died(ending: ThreadEnding): void {
    if (this.#isGone) return
    const news = this.#end(ending)
    this.#parts.gone(this, ending)
    this.#tell(news)
  }

  #end(ending: ThreadEnding): News {
    const news = new News()
    this.#isGone = true
    this.isRetired = true
    this.#startTimer?.cancel()
    this.#poll?.cancel()
    this.#terminateTimer?.cancel()
    this.#inHand.die({ ending, why: this.#why }, this.#parts.clock.nowMicros(), news)
    return news
  }

  #tell(news: News): void {
    news.tell(this.#parts.events)
    if (!this.isOpen && !this.#isGone && !this.#hasRunning()) this.terminate()
  }

  #hasRunning(): boolean {
    for (const { lingeringSince } of this.#inHand.all()) if (lingeringSince === undefined) return true
    return false
  }

  #log({ level, message, facts }: LogMessage): void {
    this.#parts.log[level](message, { ...facts, workerId: this.workerId })
  }
}
