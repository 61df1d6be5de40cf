import { trace } from '@opentelemetry/api'
import type { Metadata } from '@grpc/grpc-js'
import { FIXED_LIMITS } from '../admission/limits.js'
import type { CallTrace } from './read-schedule.js'

const NOT_TRACED: CallTrace = Object.freeze({ traceparent: '', tracestate: '' })

/** W3C, version 00 or later; ids of zeros are not ids. */
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-|$)/

/**
 * The trace that the tasks of a call belong to: the call's own span when the server traces, else what the caller sent. So a task keeps its place in the
 * caller's trace even through a server that does not trace. A broken header counts as none.
 */
export function callTrace(metadata: Metadata): CallTrace {
  const span = trace.getActiveSpan()?.spanContext()
  if (span && trace.isSpanContextValid(span)) {
    const flags = span.traceFlags.toString(16).padStart(2, '0')
    return {
      traceparent: `00-${span.traceId}-${span.spanId}-${flags}`,
      tracestate: span.traceState?.serialize() ?? '',
    }
  }
  const traceparent = textOf(metadata, 'traceparent')
  if (!TRACEPARENT.test(traceparent)) return NOT_TRACED
  const tracestate = textOf(metadata, 'tracestate')
  return {
    traceparent: traceparent.slice(0, 55),
    tracestate: tracestate.length > FIXED_LIMITS.maxTracestateChars ? '' : tracestate,
  }
}

function textOf(metadata: Metadata, key: string): string {
  const [value] = metadata.get(key)
  return typeof value === 'string' ? value.trim() : ''
}
