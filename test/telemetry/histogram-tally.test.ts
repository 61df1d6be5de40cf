import {
  AggregationTemporality,
  DataPointType,
  type HistogramMetricData,
  InMemoryMetricExporter,
  type IMetricReader,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { describe, expect, it } from 'vitest'
import { Distribution } from '../../server/telemetry/distribution.js'
import { HistogramTallies } from '../../server/telemetry/histogram-tally.js'
import { DURATION_BUCKETS_S, METRICS } from '../../server/telemetry/metric-list.js'
import { scrapedReader } from '../../server/telemetry/metric-reader.js'
import { DUE } from './fake-executor.js'
import { FixedClock } from './fixed-clock.js'

const { CUMULATIVE, DELTA } = AggregationTemporality
/** On a boundary, between two, below all, above all, nothing. */
const VALUES = [0.001, 0.0011, 0.0001, 61, 0, 60, 0.0005]

describe('a distribution', () => {
  it('has number, sum and ends of its values, and a boundary counts to the bucket below it', () => {
    const { count, sum, min, max, buckets } = distributionOf(0.0005, 0.001, 0.0011, 60, 60.5).value()
    expect({ count, min, max }).toEqual({ count: 5, min: 0.0005, max: 60.5 })
    expect(sum).toBeCloseTo(120.5026)
    expect(buckets).toEqual({
      boundaries: DURATION_BUCKETS_S,
      counts: [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
    })
  })

  it('leaves out what is negative or no number, as the SDK does', () => {
    expect(distributionOf(-1, NaN).count).toBe(0)
  })

  it('takes in another one', () => {
    const both = distributionOf(0.001, 2)
    both.add(distributionOf(0.0001, 1))
    expect(both.value()).toEqual(distributionOf(0.001, 2, 0.0001, 1).value())
  })

  it('is as new when it is cleared, and what was told of it stays', () => {
    const distribution = distributionOf(1, 2)
    const told = distribution.value()
    distribution.clear()
    distribution.record(3)
    expect(distribution.value()).toEqual(distributionOf(3).value())
    expect(told).toEqual(distributionOf(1, 2).value())
  })
})

describe('what a reader is told', () => {
  it.each([
    ['cumulative', CUMULATIVE],
    ['delta', DELTA],
  ])('is what the SDK would tell of the same values: %s', async (_, temporality) => {
    const { histograms, reader } = pushed(temporality)
    const ours = histograms.tally(METRICS.lateness)
    const other = new PeriodicExportingMetricReader({ exporter: new InMemoryMetricExporter(temporality) })
    const { name, unit, description } = METRICS.lateness
    const theirs = new MeterProvider({ readers: [other] }).getMeter('punctual').createHistogram(name, {
      unit,
      description,
      advice: { explicitBucketBoundaries: DURATION_BUCKETS_S },
    })
    for (const values of [VALUES, [0.5], []]) {
      for (const value of values) {
        ours.record(value, 'echo')
        theirs.record(value, { handler: 'echo' })
      }
      expect(await toldWithoutTimes(reader)).toEqual(await toldWithoutTimes(other))
    }
  })

  it('is all since the start at a scrape, as often as it looks', async () => {
    const { histograms, clock, reader } = scraped()
    const tally = histograms.tally(METRICS.attemptWait)
    tally.record(1, 'thread')
    clock.micros += 5_000_000
    for (let look = 0; look < 2; look++)
      expect(await pointsOf(reader)).toMatchObject([
        { value: { count: 1, sum: 1 }, startTime: at(DUE), endTime: at(DUE + 5_000) },
      ])
    tally.record(2, 'thread')
    expect(await pointsOf(reader)).toMatchObject([
      { value: { count: 2, sum: 3, min: 1, max: 2 }, startTime: at(DUE) },
    ])
  })

  it('is, as a delta, what came since its own last look, whoever else looked meanwhile', async () => {
    const clock = new FixedClock(DUE)
    const histograms = new HistogramTallies('punctual', clock)
    const [often, seldom, all] = [
      read(histograms, DELTA),
      read(histograms, DELTA),
      read(histograms, CUMULATIVE),
    ]
    const tally = histograms.tally(METRICS.attemptWait)
    tally.record(1, 'thread')
    clock.micros += 1_000_000
    expect(await pointsOf(often)).toMatchObject([{ value: { count: 1 }, startTime: at(DUE) }])
    tally.record(4, 'thread')
    clock.micros += 1_000_000
    expect(await pointsOf(often)).toMatchObject([
      { value: { count: 1, sum: 4, min: 4, max: 4 }, startTime: at(DUE + 1_000), endTime: at(DUE + 2_000) },
    ])
    for (const reader of [seldom, all])
      expect(await pointsOf(reader)).toMatchObject([
        { value: { count: 2, sum: 5, min: 1, max: 4 }, startTime: at(DUE), endTime: at(DUE + 2_000) },
      ])
    expect(await pointsOf(often)).toEqual([])
  })

  it('begins, for values that came first after its last look, when they came', async () => {
    const { histograms, clock, reader } = pushed(DELTA)
    const tally = histograms.tally(METRICS.attemptWait)
    await reader.collect()
    clock.micros += 7_000_000
    tally.record(1, 'shared')
    expect(await pointsOf(reader)).toMatchObject([{ startTime: at(DUE + 7_000) }])
  })

  it('tells sets of attributes apart', async () => {
    const { histograms, reader } = scraped()
    const tally = histograms.tally(METRICS.commitDuration)
    for (const operation of ['insert', 'start', 'insert']) tally.record(1, operation)
    expect(await pointsOf(reader)).toMatchObject([
      { attributes: { operation: 'insert' }, value: { count: 2 } },
      { attributes: { operation: 'start' }, value: { count: 1 } },
    ])
  })
})

function distributionOf(...values: readonly number[]): Distribution {
  const distribution = new Distribution()
  for (const value of values) distribution.record(value)
  return distribution
}

function pushed(temporality: AggregationTemporality) {
  const clock = new FixedClock(DUE)
  const histograms = new HistogramTallies('punctual', clock)
  return { clock, histograms, reader: read(histograms, temporality) }
}

function read(histograms: HistogramTallies, temporality: AggregationTemporality): IMetricReader {
  const metricProducers = [histograms.producer(temporality)]
  return bound(
    new PeriodicExportingMetricReader({ exporter: new InMemoryMetricExporter(temporality), metricProducers }),
  )
}

function scraped() {
  const clock = new FixedClock(DUE)
  const histograms = new HistogramTallies('punctual', clock)
  return { clock, histograms, reader: bound(scrapedReader(histograms)) }
}

/** Readers collect only for a provider. */
function bound(reader: IMetricReader): IMetricReader {
  new MeterProvider({ readers: [reader] }).getMeter('punctual')
  return reader
}

async function scopesOf(reader: IMetricReader) {
  const { resourceMetrics } = await reader.collect()
  return resourceMetrics.scopeMetrics
}

async function toldWithoutTimes(reader: IMetricReader) {
  return (await scopesOf(reader)).map(({ scope, metrics }) => ({
    scope: { ...scope, schemaUrl: undefined },
    metrics: metrics.map((metric) => ({
      ...metric,
      dataPoints: metric.dataPoints.map(({ attributes, value }) => ({ attributes, value })),
    })),
  }))
}

async function pointsOf(reader: IMetricReader): Promise<HistogramMetricData['dataPoints']> {
  const metrics = (await scopesOf(reader)).flatMap((scope) => scope.metrics)
  return metrics.flatMap((metric) =>
    metric.dataPointType === DataPointType.HISTOGRAM ? metric.dataPoints : [],
  )
}

/** In the SDK's form: seconds, nanoseconds. */
function at(ms: number): [number, number] {
  return [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000]
}
