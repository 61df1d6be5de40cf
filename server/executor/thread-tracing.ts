import { context, propagation, trace, TraceFlags } from '@opentelemetry/api'
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

/** The attempt that a handler runs for, as far as its trace goes. */
export interface TracedAttempt {
  readonly startId: number
  readonly traceparent: string
  readonly tracestate: string
}

/** Traces what handlers do in one thread. */
export interface ThreadTracing {
  /** Calls `fn` with the attempt's span active: what it traces becomes a child, and `trace.getActiveSpan()` takes attributes and events. Not sampled: just calls it. */
  run<T>(attempt: TracedAttempt, fn: () => T): T
}

/**
 * Makes this thread trace: registers a tracer and a context manager of its own, since those of the main thread do not reach here. Load this module only
 * when traces are on: it brings the SDK.
 *
 * @param post - Takes records to the main thread, in order. An attempt's note is posted before the promise of its `fn` settles for the caller.
 * @example
 * const tracing = startThreadTracing((records) => parentPort.postMessage({ records }))
 * await tracing.run(request, () => handler.run(input, ctx))
 */
export function startThreadTracing(post: (records: readonly SpanRecord[]) => void): ThreadTracing {
  const provider = new BasicTracerProvider({
    // Only what belongs to a sampled attempt is recorded; the main thread decided that before the attempt came here.
    sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }),
    spanProcessors: [postEach(post)],
  })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  return { run: (attempt, fn) => runTraced(attempt, fn, post) }
}

function runTraced<T>(attempt: TracedAttempt, fn: () => T, post: (records: SpanRecord[]) => void): T {
  const parent = attempt.traceparent === '' ? null : parseTraceParent(attempt.traceparent)
  if (parent === null || (parent.traceFlags & TraceFlags.SAMPLED) === 0) return fn()
  if (attempt.tracestate !== '') parent.traceState = new TraceState(attempt.tracestate)
  const span = new AttemptSpan(parent)
  const done = (): void => {
    const note = span.takeNote(attempt.startId)
    if (note) post([note])
  }
  let result: T
  try {
    result = context.with(trace.setSpan(context.active(), span), fn)
  } catch (error) {
    done()
    throw error
  }
  if (isPromise(result)) return result.finally(done) as T
  done()
  return result
}

// Each span leaves when it ends: what waits for a batch is lost when the thread is terminated, and a blocked thread runs no timer.
function postEach(post: (records: SpanRecord[]) => void): SpanProcessor {
  return {
    onStart() {},
    onEnd: (span) => post([handlerSpan(span)]),
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
