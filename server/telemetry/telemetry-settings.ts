/** Variables by name, as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** Which traces are kept. `ratio` is for the two samplers that take one. */
export interface SamplerSetting {
  readonly name: (typeof SAMPLERS)[number]
  readonly ratio: number
}

export type MetricExporter = 'otlp' | 'console'
export type OtlpProtocol = 'grpc' | 'http/protobuf' | 'http/json'

/** What is observed, and where it goes. */
export interface TelemetrySettings {
  /** Whether spans are made; the exporters are set up by the SDK from the same variables. */
  readonly traces: boolean
  readonly sampler: SamplerSetting
  readonly metricExporters: readonly MetricExporter[]
  readonly metricProtocol: OtlpProtocol
  readonly metricIntervalMs: number
  readonly metricTimeoutMs: number
  /** Where `/metrics` is served; absent = nowhere. */
  readonly prometheus?: ListenAddress
  /** Resource detectors are left to the SDK when the operator named some. */
  readonly namesDetectors: boolean
  readonly logLevel: string
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/**
 * What the standard `OTEL_*` variables ask for. Nothing is on unless a variable asks for it: an exporter named, or an OTLP endpoint given.
 *
 * @param env - The process's variables: the SDK reads the same ones itself when it starts.
 * @param prometheus - Address of the `/metrics` setting; wins over `OTEL_EXPORTER_PROMETHEUS_*`.
 * @throws {@link RangeError} that names the variable, its value, and what would be right.
 * @example telemetrySettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }).traces // true
 */
export function telemetrySettings(env: Environment, prometheus?: ListenAddress): TelemetrySettings {
  const on = read(env, 'OTEL_SDK_DISABLED')?.toLowerCase() !== 'true'
  const metrics = on ? wanted(env, 'METRICS', ['otlp', 'console', 'prometheus']) : []
  const served = prometheus ?? (metrics.includes('prometheus') ? prometheusAddress(env) : undefined)
  return {
    traces: on && wanted(env, 'TRACES', ['otlp', 'console', 'zipkin']).length > 0,
    sampler: samplerSetting(env),
    metricExporters: metrics.filter((name): name is MetricExporter => name !== 'prometheus'),
    metricProtocol: protocol(env),
    metricIntervalMs: positive(env, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000),
    metricTimeoutMs: positive(env, 'OTEL_METRIC_EXPORT_TIMEOUT', 30_000),
    ...(served && { prometheus: served }),
    namesDetectors: read(env, 'OTEL_NODE_RESOURCE_DETECTORS') !== undefined,
    logLevel: read(env, 'OTEL_LOG_LEVEL')?.toLowerCase() ?? 'warn',
  }
}

/** Whether anything is asked for: if not, no SDK is loaded. */
export const isOn = (settings: TelemetrySettings): boolean =>
  settings.traces || settings.metricExporters.length > 0 || settings.prometheus !== undefined

function wanted<T extends string>(env: Environment, signal: string, known: readonly T[]): readonly T[] {
  const variable = `OTEL_${signal}_EXPORTER`
  const named = read(env, variable)
  if (named === undefined) {
    const endpoint =
      read(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') ?? read(env, `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`)
    return endpoint === undefined ? [] : known.filter((name) => name === 'otlp')
  }
  const names = [...new Set(named.split(',').map((name) => name.trim()))].filter((name) => name !== '')
  if (names.includes('none')) return []
  for (const name of names) oneOf(variable, name, [...known, 'none'])
  return known.filter((name) => names.includes(name))
}

function samplerSetting(env: Environment): SamplerSetting {
  const name = oneOf(
    'OTEL_TRACES_SAMPLER',
    read(env, 'OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on',
    SAMPLERS,
  )
  const given = read(env, 'OTEL_TRACES_SAMPLER_ARG') ?? '1'
  const ratio = Number(given)
  if (name.endsWith('traceidratio') && !(ratio >= 0 && ratio <= 1))
    throw new RangeError(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, got '${given}'`)
  return { name, ratio }
}

function protocol(env: Environment): OtlpProtocol {
  const variable =
    read(env, 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL') === undefined
      ? 'OTEL_EXPORTER_OTLP_PROTOCOL'
      : 'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL'
  return oneOf(variable, read(env, variable) ?? 'http/protobuf', ['grpc', 'http/protobuf', 'http/json'])
}

function prometheusAddress(env: Environment): ListenAddress {
  const port = positive(env, 'OTEL_EXPORTER_PROMETHEUS_PORT', 9464)
  if (port > 65_535) throw new RangeError(`OTEL_EXPORTER_PROMETHEUS_PORT must be at most 65535, got ${port}`)
  return { host: read(env, 'OTEL_EXPORTER_PROMETHEUS_HOST') ?? '127.0.0.1', port }
}

function positive(env: Environment, variable: string, fallback: number): number {
  const given = read(env, variable)
  if (given === undefined) return fallback
  const value = Number(given)
  if (!Number.isInteger(value) || value <= 0)
    throw new RangeError(`${variable} must be a whole number above 0, got '${given}'`)
  return value
}

function oneOf<T extends string>(variable: string, value: string, known: readonly T[]): T {
  const found = known.find((name) => name === value)
  if (found === undefined)
    throw new RangeError(`${variable} must be one of ${known.join(', ')}; got '${value}'`)
  return found
}

/** Empty is the same as not set, as the specification wants it. */
function read(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim()
  return value === '' ? undefined : value
}
