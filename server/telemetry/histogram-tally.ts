import { type Attributes, ValueType } from '@opentelemetry/api'
import { millisToHrTime } from '@opentelemetry/core'
import { emptyResource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  type HistogramMetricData,
  InstrumentType,
  type MetricDescriptor,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import type { Clock } from '../clock.js'
import { Distribution } from './distribution.js'
import { DURATION_BUCKETS_S, type MetricInfo } from './metric-list.js'
import { SeriesMap } from './series-map.js'

/** What one reader has not been told yet; for one that wants all since the start, simply all. */
class Reader {
  readonly #kept = new Map<Series, Distribution>()
  readonly #temporality: AggregationTemporality
  #collectedAt = 0

  constructor(temporality: AggregationTemporality) {
    this.#temporality = temporality
  }

  take(series: Series): void {
    let kept = this.#kept.get(series)
    if (kept === undefined) this.#kept.set(series, (kept = new Distribution()))
    kept.add(series.recorded)
  }

  collect(tallies: readonly HistogramTally[], now: number): HistogramMetricData[] {
    const metrics = tallies.map((tally) => this.#metric(tally, now))
    this.#collectedAt = now
    return metrics.filter(({ dataPoints }) => dataPoints.length > 0)
  }

  #metric({ descriptor, series }: HistogramTally, now: number): HistogramMetricData {
    return {
      descriptor,
      aggregationTemporality: this.#temporality,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: [...series].flatMap((one) => this.#point(one, now)),
    }
  }

  #point(series: Series, now: number): HistogramMetricData['dataPoints'] {
    const kept = this.#kept.get(series)
    if (kept === undefined || kept.count === 0) return []
    const isDelta = this.#temporality === AggregationTemporality.DELTA
    const since = isDelta ? Math.max(series.since, this.#collectedAt) : series.since
    const value = kept.value()
    if (isDelta) kept.clear()
    const [startTime, endTime] = [millisToHrTime(since), millisToHrTime(now)]
    return [{ attributes: series.attributes, startTime, endTime, value }]
  }
}

/** The values under one set of attributes. */
interface Series {
  readonly attributes: Attributes
  /** When its first value came. */
  readonly since: number
  /** Since a reader last looked, whichever it was. */
  readonly recorded: Distribution
}

/** The values of one histogram. */
export class HistogramTally {
  readonly descriptor: MetricDescriptor
  readonly series: SeriesMap<Series>

  constructor(metric: MetricInfo, clock: Clock) {
    const { name, unit, description } = metric
    // As the SDK's own: with type and advice, which the console's exporter shows.
    const type = InstrumentType.HISTOGRAM
    const advice = { explicitBucketBoundaries: DURATION_BUCKETS_S }
    const descriptor = { name, type, description, unit, valueType: ValueType.DOUBLE, advice }
    this.descriptor = descriptor
    this.series = new SeriesMap(metric, (attributes) => ({
      attributes,
      since: clock.now(),
      recorded: new Distribution(),
    }))
  }

  /** Records under these values of the metric's attributes, in the order of the list. */
  record(value: number, first: string, second?: string): void {
    this.series.of(first, second).recorded.record(value)
  }
}

/**
 * Histograms that are added up outside the SDK, which turns the attributes of each measurement into text. Its readers get them through a producer each, beside
 * what the SDK itself tells.
 *
 * @example
 * const histograms = new HistogramTallies('punctual', clock)
 * const reader = new PrometheusExporter({ metricProducers: [histograms.producer(AggregationTemporality.CUMULATIVE)] })
 * histograms.tally(METRICS.lateness).record(0.002, 'echo')
 */
export class HistogramTallies {
  /** As the SDK names the scope of a meter that has no version. */
  readonly #scope: { readonly name: string; readonly version: string }
  readonly #clock: Clock
  readonly #tallies: HistogramTally[] = []
  readonly #readers: Reader[] = []

  constructor(scope: string, clock: Clock) {
    this.#scope = { name: scope, version: '' }
    this.#clock = clock
  }

  tally(metric: MetricInfo): HistogramTally {
    const tally = new HistogramTally(metric, this.#clock)
    this.#tallies.push(tally)
    return tally
  }

  /** For one reader. It tells what comes from now on: all of it each time, or, if the reader wants deltas, what came since it last asked. */
  producer(temporality: AggregationTemporality): MetricProducer {
    const reader = new Reader(temporality)
    this.#readers.push(reader)
    return { collect: () => Promise.resolve(this.#collect(reader)) }
  }

  #collect(reader: Reader): CollectionResult {
    this.#share()
    const metrics = reader.collect(this.#tallies, this.#clock.now())
    const scopeMetrics = metrics.length > 0 ? [{ scope: this.#scope, metrics }] : []
    // Readers keep the SDK's resource and drop this one.
    return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors: [] }
  }

  /** Recording is then the same work for any number of readers. */
  #share(): void {
    for (const tally of this.#tallies)
      for (const series of tally.series) {
        if (series.recorded.count === 0) continue
        for (const reader of this.#readers) reader.take(series)
        series.recorded.clear()
      }
  }
}
