import type { Clock } from '../clock.js'
import type { UpdateAnswer } from '../store/task-store.js'
import type { Instant } from '../task/instant.js'
import type { ResultOutcome, TaskResult, Transition } from '../task/result.js'
import { type LatencySummary, LatencyWindow } from './latency-window.js'

/** Names of handlers that are counted apart; a task's handler may have gone, so the list is not that of the catalogue. */
const MAX_HANDLERS = 1_000
/** For the rest. */
const OTHERS = '(others)'

/** Results of one handler with one outcome. */
export interface OutcomeCount {
  readonly handler: string
  readonly outcome: ResultOutcome
  readonly count: number
}

/** What has happened since this process started: counts of outcomes, lateness, wait, duration. Is told of results once they are stored. */
export class Statistics {
  readonly startTime: Instant
  readonly #clock: Clock
  readonly #outcomes = new Map<string, Map<ResultOutcome, number>>()
  readonly #lateness = new LatencyWindow()
  readonly #wait = new LatencyWindow()
  readonly #duration = new LatencyWindow()

  constructor(clock: Clock) {
    this.#clock = clock
    this.startTime = clock.now()
  }

  /** Counts what an update of the store kept. */
  updated(transitions: readonly Transition[], answers: readonly UpdateAnswer[]): void {
    const steady = this.#clock.steady()
    for (const [index, answer] of answers.entries()) {
      if (answer.kind !== 'stored') continue
      for (const entry of transitions[index]?.entries ?? []) this.#count(entry, steady)
    }
  }

  outcomes(): OutcomeCount[] {
    return [...this.#outcomes].flatMap(([handler, counts]) =>
      [...counts].map(([outcome, count]) => ({ handler, outcome, count })),
    )
  }

  /** Start minus due time, of first attempts. */
  lateness(): LatencySummary[] {
    return this.#lateness.summaries(this.#clock.steady())
  }

  /** Start of attempts minus when each could have started: its due time, or the end of its back-off. */
  wait(): LatencySummary[] {
    return this.#wait.summaries(this.#clock.steady())
  }

  /** End minus start, of attempts. */
  duration(): LatencySummary[] {
    return this.#duration.summaries(this.#clock.steady())
  }

  #count(entry: TaskResult, steady: number): void {
    if (entry.kind === 'result') this.#countOutcome(entry.handler, entry.outcome)
    if (entry.startTimeUs === 0) return
    this.#wait.record(entry.startTimeUs - entry.notBefore * 1_000, steady)
    this.#duration.record(entry.endTimeUs - entry.startTimeUs, steady)
    if (entry.attempts === 1) this.#lateness.record(entry.startTimeUs - entry.dueTime * 1_000, steady)
  }

  #countOutcome(handler: string, outcome: ResultOutcome): void {
    const name = this.#outcomes.has(handler) || this.#outcomes.size < MAX_HANDLERS ? handler : OTHERS
    let counts = this.#outcomes.get(name)
    if (!counts) this.#outcomes.set(name, (counts = new Map<ResultOutcome, number>()))
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  }
}
