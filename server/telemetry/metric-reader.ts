import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import {
  AggregationTemporality,
  ConsoleMetricExporter,
  type IMetricReader,
  InstrumentType,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
import type { HistogramTallies } from './histogram-tally.js'
import type { MetricExporter, OtlpProtocol, TelemetrySettings } from './telemetry-settings.js'

/** The readers that push, one for each exporter asked for. The SDK would make them itself, but not beside one for `/metrics`. */
export function pushingReaders(
  settings: TelemetrySettings,
  histograms: HistogramTallies,
): Promise<IMetricReader[]> {
  return Promise.all(
    settings.metricExporters.map(async (name) => {
      const exporter = await exporterOf(name, settings.metricProtocol)
      // The exporter knows what OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE asks for.
      const temporality =
        exporter.selectAggregationTemporality?.(InstrumentType.HISTOGRAM) ?? AggregationTemporality.CUMULATIVE
      return new PeriodicExportingMetricReader({
        exporter,
        metricProducers: [histograms.producer(temporality)],
        exportIntervalMillis: settings.metricIntervalMs,
        exportTimeoutMillis: Math.min(settings.metricTimeoutMs, settings.metricIntervalMs),
      })
    }),
  )
}

/** The reader behind `/metrics`; Prometheus wants all since the start. */
export function scrapedReader(histograms: HistogramTallies): PrometheusExporter {
  return new PrometheusExporter({
    preventServerStart: true,
    metricProducers: [histograms.producer(AggregationTemporality.CUMULATIVE)],
  })
}

async function exporterOf(name: MetricExporter, protocol: OtlpProtocol): Promise<PushMetricExporter> {
  if (name === 'console') return new ConsoleMetricExporter()
  if (protocol === 'grpc') {
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-grpc')
    return new OTLPMetricExporter()
  }
  if (protocol === 'http/json') {
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-http')
    return new OTLPMetricExporter()
  }
  const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto')
  return new OTLPMetricExporter()
}
