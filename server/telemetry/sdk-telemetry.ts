import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { metrics, trace } from '@opentelemetry/api'
import { defaultResource, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { NodeSDK } from '@opentelemetry/sdk-node'
import { HistogramTallies } from './histogram-tally.js'
import { MeteredExecutor } from './metered-executor.js'
import { meteredStore } from './metered-store.js'
import { pushingReaders, scrapedReader } from './metric-reader.js'
import { observeSources } from './metric-sources.js'
import { Metrics } from './metrics.js'
import { servePrometheus } from './prometheus-server.js'
import { samplerOf } from './sampler.js'
import { logTheSdk } from './sdk-log.js'
import { stopWithin } from './sdk-stop.js'
import { SpanIds } from './span-ids.js'
import type { Telemetry, TelemetryContext } from './telemetry.js'
import type { TelemetrySettings } from './telemetry-settings.js'
import { TracedExecutor } from './traced-executor.js'
import { tracedStore } from './traced-store.js'
import { Tracing } from './tracing.js'

/** Of every metric. */
const SCOPE = 'punctual'

/** A module beside this one: built, or from the sources as tests run. */
function moduleOf(name: string): string {
  const built = new URL(`./${name}.js`, import.meta.url)
  return existsSync(built) ? built.href : new URL(`./${name}.ts`, import.meta.url).href
}

/** Starts OpenTelemetry's SDK. The heavy half of telemetry: loaded only when something is asked for. */
export async function startSdk(settings: TelemetrySettings, context: TelemetryContext): Promise<Telemetry> {
  const { clock, log } = context
  const ids = new SpanIds()
  const sampler = samplerOf(settings.sampler)
  const followsParent = settings.sampler.name.startsWith('parentbased')
  const histograms = new HistogramTallies(SCOPE, clock)
  const exporter = settings.prometheus && scrapedReader(histograms)
  const readers = [...(await pushingReaders(settings, histograms)), ...(exporter ? [exporter] : [])]
  const sdk = new NodeSDK({
    resource: defaultResource().merge(
      resourceFromAttributes({
        'service.name': 'punctual',
        'service.version': context.version,
        'host.name': hostname(),
      }),
    ),
    // The process's own arguments are nobody's business: they are detected only when the operator names that detector.
    ...(!settings.namesDetectors && { resourceDetectors: [envDetector] }),
    ...(!settings.traces && { spanProcessors: [] }),
    instrumentations: [],
    logRecordProcessors: [],
    metricReaders: readers,
    idGenerator: ids,
    sampler,
  })
  logTheSdk(log, clock, settings.logLevel)
  sdk.start()
  const server =
    settings.prometheus &&
    (await servePrometheus(settings.prometheus, (request, response) =>
      exporter?.getMetricsRequestHandler(request, response),
    ))
  if (server) log.info('metrics are served at /metrics', { ...server.address })
  const provider = trace.getTracerProvider()
  const tracing = settings.traces ? new Tracing({ provider, ids, sampler, followsParent }) : undefined
  const meter = metrics.getMeter(SCOPE)
  const counted =
    readers.length > 0 ? new Metrics(meter, histograms, (handler) => context.isLoaded(handler)) : undefined
  let isAvailable = (): boolean => true
  let stopObserving = (): void => {}

  return {
    traces: settings.traces,
    threadInstrumentation: settings.traces ? moduleOf('thread-spans') : '',
    ...(server && { prometheus: server.address }),
    store(store) {
      const traced = tracing ? tracedStore(store, provider) : store
      if (counted === undefined) return traced
      const metered = meteredStore(traced, counted, clock)
      isAvailable = metered.isAvailable
      return metered.store
    },
    executor(executor) {
      const traced = tracing ? new TracedExecutor(executor, tracing) : executor
      return counted ? new MeteredExecutor(traced, counted, clock) : traced
    },
    observe(sources) {
      if (counted) stopObserving = observeSources(meter, { storeAvailable: isAvailable, ...sources })
    },
    async shutdown(limitMs) {
      const clean = await stopWithin(limitMs, [sdk.shutdown(), server?.close() ?? Promise.resolve()], {
        clock,
        log,
      })
      stopObserving()
      return clean
    },
  }
}
