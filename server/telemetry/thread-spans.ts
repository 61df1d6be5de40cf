import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { parseTraceParent, TraceState, W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  ParentBasedSampler,
  type ReadableSpan,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import type { HandlerSpan, SpanRecord } from '../task/span-record.js'
import { AttemptSpan } from './attempt-span.js'
import { spanContextRecord } from './span-context-record.js'
import { saysSampled } from './traceparent.js'

/** The attempt that a handler runs for, as far as its trace goes. */
export interface TracedAttempt {
  readonly startId: number
  readonly traceparent: string
  readonly tracestate: string
}

/** What handlers do in this thread, traced. Fits the executor's `ThreadInstrumentation`. */
export interface ThreadSpans {
  /** Calls `run` with the attempt's span active: what it traces becomes a child, and `trace.getActiveSpan()` takes attributes and events. Not sampled: just calls it. */
  around<T>(attempt: TracedAttempt, run: () => T): T
}

/**
 * Makes this thread trace: registers a tracer and a context manager of its own, since those of the main thread do not reach here. Loaded by a thread only when
 * traces are on: it brings the SDK.
 *
 * @param send - Takes records to the main thread, in order. An attempt's note is sent before the promise of its `run` settles for the caller.
 * @example
 * const { instrument } = await import(THREAD_SPANS_MODULE)
 * const spans = instrument((records) => port.postMessage({ kind: 'spans', spans: records }))
 * await spans.around(attempt, () => handler.run(input, ctx))
 */
export function instrument(send: (records: readonly SpanRecord[]) => void): ThreadSpans {
  const provider = new BasicTracerProvider({
    // Only what belongs to a sampled attempt is recorded; the main thread decided that before the attempt came here.
    sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }),
    spanProcessors: [sendEach(send)],
  })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  return { around: (attempt, run) => runTraced(attempt, run, send) }
}

function runTraced<T>(attempt: TracedAttempt, run: () => T, send: (records: SpanRecord[]) => void): T {
  const parent = saysSampled(attempt.traceparent) ? parseTraceParent(attempt.traceparent) : null
  if (parent === null) return run()
  if (attempt.tracestate !== '') parent.traceState = new TraceState(attempt.tracestate)
  const span = new AttemptSpan(parent)
  const done = (): void => {
    const note = span.takeNote(attempt.startId)
    if (note) send([note])
  }
  let result: T
  try {
    result = context.with(trace.setSpan(context.active(), span), run)
  } catch (error) {
    done()
    throw error
  }
  if (isPromise(result)) return result.finally(done) as T
  done()
  return result
}

// Each span leaves when it ends: what waits for a batch is lost when the thread is terminated, and a blocked thread runs no timer.
function sendEach(send: (records: SpanRecord[]) => void): SpanProcessor {
  return {
    onStart() {},
    onEnd: (span) => send([handlerSpan(span)]),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  }
}

function handlerSpan(span: ReadableSpan): HandlerSpan {
  return {
    kind: 'span',
    context: spanContextRecord(span.spanContext()),
    ...(span.parentSpanContext && { parent: spanContextRecord(span.parentSpanContext) }),
    name: span.name,
    spanKind: span.kind,
    startTime: span.startTime,
    endTime: span.endTime,
    attributes: span.attributes,
    events: span.events.map(({ name, time, attributes }) => ({
      name,
      time,
      attributes: attributes ?? {},
    })),
    links: span.links.map((link) => ({
      context: spanContextRecord(link.context),
      attributes: link.attributes ?? {},
    })),
    status: { code: span.status.code, message: span.status.message ?? '' },
    scope: { name: span.instrumentationScope.name, version: span.instrumentationScope.version ?? '' },
  }
}

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise
}
