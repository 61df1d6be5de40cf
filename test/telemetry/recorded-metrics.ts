import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { HistogramTallies } from '../../server/telemetry/histogram-tally.js'
import { METRICS } from '../../server/telemetry/metric-list.js'
import { scrapedReader } from '../../server/telemetry/metric-reader.js'
import { DUE } from './fake-executor.js'
import { FixedClock } from './fixed-clock.js'

/** Metrics that stay here, as a scrape would read them. */
export function recordedMetrics() {
  const histograms = new HistogramTallies('punctual', new FixedClock(DUE))
  const reader = scrapedReader(histograms)
  const provider = new MeterProvider({ readers: [reader] })
  const serializer = new PrometheusSerializer('', false, undefined, true, true)
  const scrape = async (): Promise<string[]> => {
    const { resourceMetrics, errors } = await reader.collect()
    if (errors.length > 0) throw new AggregateError(errors)
    return serializer
      .serialize(resourceMetrics)
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
  }
  return {
    meter: provider.getMeter('punctual'),
    histograms,
    /** Every series and its value. */
    scrape,
    /** The series of one metric, histograms without their buckets. */
    series: async (metric: keyof typeof METRICS): Promise<string[]> => {
      const name = METRICS[metric].name.replaceAll('.', '_')
      const ours = new RegExp(`^${name}(_total|_count|_sum)?(\\{| )`)
      return (await scrape()).filter((line) => ours.test(line))
    },
  }
}
