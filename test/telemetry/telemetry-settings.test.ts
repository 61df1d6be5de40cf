import { describe, expect, it } from 'vitest'
import { isOn, telemetrySettings } from '../../server/telemetry/telemetry-settings.js'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }

describe('telemetry is off unless asked for', () => {
  it.each([
    ['nothing is set', {}],
    ['only a name is set', { OTEL_SERVICE_NAME: 'billing' }],
    ['an exporter is set to nothing', { OTEL_TRACES_EXPORTER: '', OTEL_METRICS_EXPORTER: ' ' }],
    [
      'exporters are "none"',
      { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'otlp,none', ...ENDPOINT },
    ],
    ['the SDK is disabled', { OTEL_SDK_DISABLED: 'TRUE', OTEL_TRACES_EXPORTER: 'otlp', ...ENDPOINT }],
    ['there is only an endpoint for logs', { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://localhost:4318' }],
  ])('%s', (_, env) => {
    expect(isOn(telemetrySettings(env))).toBe(false)
  })
})

describe('what turns it on', () => {
  it('an OTLP endpoint: traces and metrics', () => {
    expect(telemetrySettings(ENDPOINT)).toMatchObject({ traces: true, metricExporters: ['otlp'] })
  })

  it('an endpoint of one signal: that signal', () => {
    const settings = telemetrySettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://localhost:4318' })
    expect(settings).toMatchObject({ traces: true, metricExporters: [] })
  })

  it('an exporter by name, several by comma', () => {
    const settings = telemetrySettings({
      OTEL_TRACES_EXPORTER: 'console',
      OTEL_METRICS_EXPORTER: 'console, otlp',
    })
    expect(settings).toMatchObject({ traces: true, metricExporters: ['otlp', 'console'] })
  })

  it('an address for /metrics, on loopback unless it says otherwise', () => {
    const settings = telemetrySettings({ OTEL_METRICS_EXPORTER: 'prometheus' })
    expect(settings.prometheus).toEqual({ host: '127.0.0.1', port: 9464 })
    expect(settings.metricExporters).toEqual([])
    const env = { OTEL_METRICS_EXPORTER: 'prometheus', OTEL_EXPORTER_PROMETHEUS_PORT: '9000' }
    expect(telemetrySettings(env).prometheus?.port).toBe(9000)
    expect(telemetrySettings(env, { host: '::1', port: 1 }).prometheus).toEqual({ host: '::1', port: 1 })
    expect(isOn(telemetrySettings({}, { host: '127.0.0.1', port: 0 }))).toBe(true)
  })
})

describe('what is kept', () => {
  it('is what the caller keeps, by default', () => {
    expect(telemetrySettings({}).sampler).toEqual({ name: 'parentbased_always_on', ratio: 1 })
  })

  it('is what the sampler says', () => {
    const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' }
    expect(telemetrySettings(env).sampler).toEqual({ name: 'parentbased_traceidratio', ratio: 0.01 })
  })
})

describe('a wrong value is refused: which, what it was, what would be right', () => {
  it.each([
    [{ OTEL_TRACES_EXPORTER: 'jaeger' }, 'OTEL_TRACES_EXPORTER must be one of otlp, console, zipkin, none'],
    [
      { OTEL_METRICS_EXPORTER: 'statsd' },
      'OTEL_METRICS_EXPORTER must be one of otlp, console, prometheus, none',
    ],
    [{ OTEL_TRACES_SAMPLER: 'often' }, "parentbased_traceidratio; got 'often'"],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1%' },
      "must be a number from 0 to 1, got '1%'",
    ],
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'udp' },
      'OTEL_EXPORTER_OTLP_PROTOCOL must be one of grpc, http/protobuf, http/json',
    ],
    [
      { OTEL_METRIC_EXPORT_INTERVAL: '0' },
      "OTEL_METRIC_EXPORT_INTERVAL must be a whole number above 0, got '0'",
    ],
    [
      { OTEL_METRICS_EXPORTER: 'prometheus', OTEL_EXPORTER_PROMETHEUS_PORT: '70000' },
      'must be at most 65535, got 70000',
    ],
  ])('%o', (env, message) => {
    expect(() => telemetrySettings(env)).toThrow(message)
  })
})
