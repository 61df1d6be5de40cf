import type { SpanContext } from '@opentelemetry/api'
import type { SpanContextRecord } from '../task/span-record.js'

/** A span context as plain data: its trace state is an object with methods, which does not cross a thread. */
export function spanContextRecord(context: SpanContext): SpanContextRecord {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    traceFlags: context.traceFlags,
    traceState: context.traceState?.serialize() ?? '',
  }
}
