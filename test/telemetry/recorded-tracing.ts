import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { samplerOf } from '../../server/telemetry/sampler.js'
import { SpanIds } from '../../server/telemetry/span-ids.js'
import type { SamplerSetting } from '../../server/telemetry/telemetry-settings.js'
import { Tracing } from '../../server/telemetry/tracing.js'

/** Tracing whose spans stay here. */
export function recordedTracing(sampler: SamplerSetting['name'] = 'parentbased_always_on', ratio = 1) {
  const exporter = new InMemorySpanExporter()
  const parts = { ids: new SpanIds(), sampler: samplerOf({ name: sampler, ratio }) }
  const provider = new BasicTracerProvider({
    sampler: parts.sampler,
    idGenerator: parts.ids,
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  })
  return {
    provider,
    tracing: new Tracing({ provider, ...parts, followsParent: sampler.startsWith('parentbased') }),
    spans: () => exporter.getFinishedSpans(),
    /** The finished span whose name begins so. */
    span: (name: string) => {
      const found = exporter.getFinishedSpans().filter((span) => span.name.startsWith(name))
      const [only] = found
      if (only === undefined || found.length > 1) throw new Error(`${found.length} spans named ${name}`)
      return only
    },
  }
}
