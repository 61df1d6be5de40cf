import type { Attributes, Histogram, Meter } from '@opentelemetry/api'
import type { Lane } from '../executor/executor.js'
import type { AttemptOutcome } from '../task/outcome.js'
import type { TaskResult } from '../task/result.js'
import { DURATION_BUCKETS_S, METRICS, type MetricInfo } from './metric-list.js'
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
  readonly #lateness: Histogram
  readonly #wait: Histogram
  readonly #duration: Histogram
  readonly #commit: Histogram
  readonly #byHandler = new Map<string, Attributes>()

  /** @param isLoaded - Whether the operator loaded a handler of this name: the others share one. */
  constructor(meter: Meter, isLoaded: (handler: string) => boolean) {
    this.#isLoaded = isLoaded
    this.#scheduled = tallyOf(meter, METRICS.tasksScheduled)
    this.#results = tallyOf(meter, METRICS.results)
    this.#skipped = tallyOf(meter, METRICS.slotsSkipped)
    this.#attempts = tallyOf(meter, METRICS.attempts)
    this.#lateness = histogramOf(meter, METRICS.lateness)
    this.#wait = histogramOf(meter, METRICS.attemptWait)
    this.#duration = histogramOf(meter, METRICS.attemptDuration)
    this.#commit = histogramOf(meter, METRICS.commitDuration)
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
    this.#wait.record(Math.max(0, times.waitMs) / 1_000, BY_LANE[lane])
    if (times.lateMs !== undefined)
      this.#lateness.record(Math.max(0, times.lateMs) / 1_000, this.#attributesOf(handler))
  }

  /** `durationMs` is for attempts that began. */
  attemptEnded(handler: string, outcome: AttemptOutcome['kind'], durationMs?: number): void {
    this.#attempts.add(1, outcome)
    if (durationMs !== undefined)
      this.#duration.record(Math.max(0, durationMs) / 1_000, this.#attributesOf(handler))
  }

  committed(operation: StoreOperation, durationMs: number): void {
    this.#commit.record(durationMs / 1_000, BY_OPERATION[operation])
  }

  #nameOf(handler: string): string {
    return this.#isLoaded(handler) ? handler : NOT_LOADED
  }

  #attributesOf(handler: string): Attributes {
    const name = this.#nameOf(handler)
    let attributes = this.#byHandler.get(name)
    if (attributes === undefined) this.#byHandler.set(name, (attributes = { handler: name }))
    return attributes
  }
}

const BY_LANE: Record<Lane, Attributes> = { thread: { lane: 'thread' }, shared: { lane: 'shared' } }
const BY_OPERATION: Record<StoreOperation, Attributes> = {
  insert: { operation: 'insert' },
  start: { operation: 'start' },
  update: { operation: 'update' },
}

function tallyOf(meter: Meter, metric: MetricInfo): Tally {
  const tally = new Tally(metric)
  const { unit, description } = metric
  meter.createObservableCounter(metric.name, { unit, description }).addCallback(tally.observe)
  return tally
}

function histogramOf(meter: Meter, { name, unit, description }: MetricInfo): Histogram {
  return meter.createHistogram(name, {
    unit,
    description,
    advice: { explicitBucketBoundaries: DURATION_BUCKETS_S },
  })
}
