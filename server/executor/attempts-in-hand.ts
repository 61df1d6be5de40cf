import type { Timer } from '../clock.js'
import type { StopReason } from '../handlers/handler-context.js'
import type { AttemptOutcome } from '../task/outcome.js'
import { NO_PAYLOAD } from '../task/task-spec.js'
import { type AttemptLedger, ROW_STATE } from './attempt-ledger.js'
import { addToBurst } from './burst-message.js'
import { type Death, verdictOn } from './death-verdict.js'
import type { AttemptRequest } from './executor.js'
import type { News } from './news.js'
import type { OwnOutcome } from './run-attempt.js'

/** An attempt that a thread was given and that is not over. */
export interface AttemptInHand {
  readonly request: AttemptRequest
  readonly row: number
  readonly generation: number
  /** Told as begun. */
  begun: boolean
  startTimeUs: number
  /** Its outcome, when it came by message. */
  outcome: OwnOutcome | undefined
  stop: StopReason | undefined
  /** When its grace is over, on the steady clock. */
  stopDeadline: number
  /** Given up at this moment of the steady clock, and not ended since. */
  lingeringSince: number | undefined
  /** For its time-out, then for its grace. */
  timer: Timer | undefined
}

/** The attempts of one thread, as the main thread sees them. Knows neither time nor threads: only what the ledger says, and what follows from it. */
export class AttemptsInHand {
  readonly #ledger: AttemptLedger
  readonly #workerId: string
  /** They run in the order in which they were given. */
  readonly #oneByOne: boolean
  readonly #byStartId = new Map<number, AttemptInHand>()
  readonly #freeRows: number[]

  constructor(ledger: AttemptLedger, workerId: string, rows: number, oneByOne: boolean) {
    this.#ledger = ledger
    this.#workerId = workerId
    this.#oneByOne = oneByOne
    this.#freeRows = Array.from({ length: rows }, (_, index) => rows - index)
  }

  get size(): number {
    return this.#byStartId.size
  }

  get(startId: number): AttemptInHand | undefined {
    return this.#byStartId.get(startId)
  }

  all(): IterableIterator<AttemptInHand> {
    return this.#byStartId.values()
  }

  /** Takes attempts into hand. @returns the message that gives them to the thread. */
  add(burst: readonly AttemptRequest[]): unknown[] {
    const message: unknown[] = []
    for (const request of burst) {
      const row = this.#freeRows.pop()
      if (row === undefined) throw new RangeError(`${this.#workerId} has no room for another attempt`)
      const generation = this.#ledger.arm(row)
      this.#byStartId.set(request.startId, {
        request,
        row,
        generation,
        begun: false,
        startTimeUs: 0,
        outcome: undefined,
        stop: undefined,
        stopDeadline: 0,
        lingeringSince: undefined,
        timer: undefined,
      })
      addToBurst(message, row, generation, request)
    }
    return message
  }

  /** Reads the ledger. @returns attempts that were found running for the first time. */
  look(news: News): AttemptInHand[] {
    const started: AttemptInHand[] = []
    for (const attempt of this.#byStartId.values()) {
      const state = this.#ledger.state(attempt.row)
      if (state === ROW_STATE.waiting && this.#oneByOne) break
      if (state === ROW_STATE.running && !attempt.begun) {
        this.#begin(attempt, news)
        started.push(attempt)
      } else if (state === ROW_STATE.ended) this.#end(attempt, this.#outcomeInRow(attempt.row), news)
      // The outcome comes first, so it is there; but its row is free only when the thread has let go of it.
      else if (state === ROW_STATE.endedByMessage && attempt.outcome !== undefined)
        this.#end(attempt, attempt.outcome, news)
    }
    return started
  }

  /** Whether a look may find something although nobody asks for one: a handler that never returns hides what ended before it. */
  get mayHideNews(): boolean {
    if (this.#oneByOne && this.size > 1) return true
    for (const attempt of this.#byStartId.values()) if (!attempt.begun) return true
    return false
  }

  /** Takes back an attempt that has not begun, so that it never does. @returns false: it has. */
  withdraw(attempt: AttemptInHand): boolean {
    if (!this.#ledger.withdraw(attempt.row, attempt.generation)) return false
    this.#remove(attempt)
    return true
  }

  /** Takes back all that have not begun. */
  withdrawAll(news: News): void {
    for (const attempt of this.#byStartId.values())
      if (this.withdraw(attempt)) news.returned.push(attempt.request.startId)
  }

  /** Ends an attempt for those who wait for it, although its handler still runs. */
  giveUp(
    attempt: AttemptInHand,
    outcome: AttemptOutcome,
    steadyNow: number,
    endTimeUs: number,
    news: News,
  ): void {
    if (!attempt.begun) this.#begin(attempt, news)
    attempt.lingeringSince = steadyNow
    news.ended.push({ ...this.#endOf(attempt, outcome, endTimeUs), lingering: true })
  }

  /** The thread is gone: everything in hand is over. */
  die(death: Omit<Death, 'running' | 'exitedBy' | 'inCall'>, endTimeUs: number, news: News): void {
    this.look(news)
    const running = [...this.#byStartId.values()].filter(
      ({ row, outcome }) => this.#isRunning(row) && !outcome,
    )
    const { exitedBy, inCall } = this.#ledger
    const facts: Death = { ...death, running: running.map(({ row }) => row), exitedBy, inCall }
    for (const attempt of this.#byStartId.values()) {
      if (attempt.outcome !== undefined) this.#end(attempt, attempt.outcome, news)
      else if (!this.#isRunning(attempt.row)) {
        this.#remove(attempt)
        news.returned.push(attempt.request.startId)
      } else {
        const outcome =
          attempt.stop === undefined ? verdictOn(attempt.row, facts) : stopOutcome(attempt.stop, 'terminated')
        this.#end(attempt, outcome, news, endTimeUs)
      }
    }
  }

  #isRunning(row: number): boolean {
    const state = this.#ledger.state(row)
    return state === ROW_STATE.claimed || state === ROW_STATE.running
  }

  #begin(attempt: AttemptInHand, news: News): void {
    attempt.begun = true
    attempt.startTimeUs = this.#ledger.startTimeUs(attempt.row)
    const { startId } = attempt.request
    news.began.push({ startId, startTimeUs: attempt.startTimeUs, workerId: this.#workerId })
  }

  #end(
    attempt: AttemptInHand,
    own: AttemptOutcome,
    news: News,
    endTimeUs = this.#ledger.endTimeUs(attempt.row),
  ): void {
    this.#remove(attempt)
    if (attempt.lingeringSince !== undefined) {
      news.released.push(attempt.request.startId)
      return
    }
    if (!attempt.begun) this.#begin(attempt, news)
    const outcome =
      attempt.stop === undefined || own.kind === 'timedOut' || own.kind === 'cancelled'
        ? own
        : stopOutcome(attempt.stop, 'cooperative')
    news.ended.push(this.#endOf(attempt, outcome, endTimeUs))
  }

  #endOf({ request, startTimeUs }: AttemptInHand, outcome: AttemptOutcome, endTimeUs: number) {
    return {
      startId: request.startId,
      outcome,
      startTimeUs,
      endTimeUs: Math.max(startTimeUs, endTimeUs),
      workerId: this.#workerId,
    }
  }

  #outcomeInRow(row: number): AttemptOutcome {
    const text = this.#ledger.output(row)
    return { kind: 'succeeded', output: text === undefined ? NO_PAYLOAD : { kind: 'json', text } }
  }

  #remove(attempt: AttemptInHand): void {
    attempt.timer?.cancel()
    this.#byStartId.delete(attempt.request.startId)
    this.#freeRows.push(attempt.row)
  }
}

/** The outcome of an attempt that was told to stop, whatever its handler made of it. */
export function stopOutcome(reason: StopReason, stage: 'cooperative' | 'terminated'): AttemptOutcome {
  if (reason === 'serverStops') return { kind: 'interrupted', reason: 'the server stops' }
  return { kind: reason === 'timedOut' ? 'timedOut' : 'cancelled', stage }
}
