import { parentPort, workerData } from 'node:worker_threads'
import { trace } from '@opentelemetry/api'
import type { instrument } from '../../../server/telemetry/thread-spans.js'

// A thread as the executor has them: loads the instrumentation that it was told of, runs one attempt, tells what was traced.
const { module, attempt } = workerData as { module: string; attempt: Parameters<typeof handle>[0] }
const loaded = (await import(module)) as { readonly instrument: typeof instrument }
const spans = loaded.instrument((records) => parentPort?.postMessage(records))

async function handle(traced: { startId: number; traceparent: string; tracestate: string }): Promise<void> {
  await spans.around(traced, async () => {
    trace.getActiveSpan()?.setAttribute('pages', 3)
    await trace.getTracer('handlers').startActiveSpan('fetch report', async (span) => {
      await Promise.resolve()
      span.end()
    })
  })
}

await handle(attempt)
