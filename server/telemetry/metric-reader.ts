import {
  ConsoleMetricExporter,
  type IMetricReader,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
import type { MetricExporter, OtlpProtocol, TelemetrySettings } from './telemetry-settings.js'

/** The readers that push, one for each exporter asked for. The SDK would make them itself, but not beside one for `/metrics`. */
export function pushingReaders(settings: TelemetrySettings): Promise<IMetricReader[]> {
  return Promise.all(
    settings.metricExporters.map(
      async (name) =>
        new PeriodicExportingMetricReader({
          exporter: await exporterOf(name, settings.metricProtocol),
          exportIntervalMillis: settings.metricIntervalMs,
          exportTimeoutMillis: Math.min(settings.metricTimeoutMs, settings.metricIntervalMs),
        }),
    ),
  )
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
