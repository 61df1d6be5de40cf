import type { Meter } from '@opentelemetry/api'
import type { Lane } from '../executor/executor.js'
import type { AttemptOutcome } from '../task/outcome.js'
import type { TaskResult } from '../task/result.js'
import type { HistogramTallies, HistogramTally } from './histogram-tally.js'
import { METRICS, type MetricInfo } from './metric-list.js'
import { Tally } from './tally.js'

/** Stands for the handlers of stored tasks that are not loaded: their names are not ours to bound. */
const NOT_LOADED = 'not_loaded'

export type StoreOperation = 'insert' | 'start' | 'update'

/** The metrics that are counted where things happen. Those that are read off at each look are in {@link observeSources}. */
export class Metrics {
  readonly #isLoaded: (handler: string) => boolean
  readonly #scheduled: Tally
  readonly #results: Tally
  readonly #skipped: Tally
  readonly #attempts: Tally
  readonly #lateness: HistogramTally
  readonly #wait: HistogramTally
  readonly #duration: HistogramTally
  readonly #commit: HistogramTally

  /** @param isLoaded - Whether the operator loaded a handler of this name: the others share one. */
  constructor(meter: Meter, histograms: HistogramTallies, isLoaded: (handler: string) => boolean) {
    this.#isLoaded = isLoaded
    this.#scheduled = tallyOf(meter, METRICS.tasksScheduled)
    this.#results = tallyOf(meter, METRICS.results)
    this.#skipped = tallyOf(meter, METRICS.slotsSkipped)
    this.#attempts = tallyOf(meter, METRICS.attempts)
    this.#lateness = histograms.tally(METRICS.lateness)
    this.#wait = histograms.tally(METRICS.attemptWait)
    this.#duration = histograms.tally(METRICS.attemptDuration)
    this.#commit = histograms.tally(METRICS.commitDuration)
  }

  taskScheduled(handler: string): void {
    this.#scheduled.add(1, this.#nameOf(handler))
  }

  runEnded(result: TaskResult): void {
    const handler = this.#nameOf(result.handler)
    this.#results.add(1, handler, result.outcome)
    if (result.skipReason) this.#skipped.add(result.skippedCount, handler, result.skipReason)
  }

  /** `lateMs` is for the first attempt of a run. */
  attemptBegan(handler: string, lane: Lane, times: { waitMs: number; lateMs?: number }): void {
    this.#wait.record(Math.max(0, times.waitMs) / 1_000, lane)
    if (times.lateMs !== undefined)
      this.#lateness.record(Math.max(0, times.lateMs) / 1_000, this.#nameOf(handler))
  }

  /** `durationMs` is for attempts that began. */
  attemptEnded(handler: string, outcome: AttemptOutcome['kind'], durationMs?: number): void {
    this.#attempts.add(1, outcome)
    if (durationMs !== undefined)
      this.#duration.record(Math.max(0, durationMs) / 1_000, this.#nameOf(handler))
  }

  committed(operation: StoreOperation, durationMs: number): void {
    this.#commit.record(durationMs / 1_000, operation)
  }

  #nameOf(handler: string): string {
    return this.#isLoaded(handler) ? handler : NOT_LOADED
  }
}

function tallyOf(meter: Meter, metric: MetricInfo): Tally {
  const tally = new Tally(metric)
  const { unit, description } = metric
  meter.createObservableCounter(metric.name, { unit, description }).addCallback(tally.observe)
  return tally
}
