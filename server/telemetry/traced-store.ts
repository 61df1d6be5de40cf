import { context, SpanKind, SpanStatusCode, trace, type TracerProvider } from '@opentelemetry/api'
import type { TaskStore } from '../store/task-store.js'
import { override } from './port-override.js'

/**
 * A store whose inserts show in the trace of the call that waits for them: how long it took until the tasks were on disk. Only a call that is sampled makes
 * a span. Starts and updates are written for many tasks at once, and nobody's trace waits for them.
 */
export function tracedStore(store: TaskStore, provider: TracerProvider): TaskStore {
  const tracer = provider.getTracer('punctual')
  const insert: TaskStore['insert'] = (requests) => {
    if (trace.getSpan(context.active())?.isRecording() !== true) return store.insert(requests)
    const attributes = { 'db.operation.name': 'insert', 'db.operation.batch.size': requests.length }
    const span = tracer.startSpan('insert tasks', { kind: SpanKind.CLIENT, attributes })
    return store
      .insert(requests)
      .catch((error: unknown) => {
        const type = error instanceof Error ? error.name : '_OTHER'
        span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
        throw error
      })
      .finally(() => span.end())
  }
  return override(store, { insert })
}
