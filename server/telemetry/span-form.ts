import {
  type Attributes,
  type HrTime,
  type Link,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
} from '@opentelemetry/api'
import { TraceState } from '@opentelemetry/core'
import type {
  SpanContextRecord,
  SpanEventRecord,
  SpanLinkRecord,
  SpanStatusRecord,
  SpanTime,
} from '../task/span-record.js'

/** The forms that OpenTelemetry wants, of what crossed a thread as plain data. */
export const SPAN_KIND = [
  SpanKind.INTERNAL,
  SpanKind.SERVER,
  SpanKind.CLIENT,
  SpanKind.PRODUCER,
  SpanKind.CONSUMER,
] as const

const STATUS_CODE = [SpanStatusCode.UNSET, SpanStatusCode.OK, SpanStatusCode.ERROR] as const

export function spanContextOf(record: SpanContextRecord): SpanContext {
  const { traceId, spanId, traceFlags, traceState } = record
  return { traceId, spanId, traceFlags, ...(traceState !== '' && { traceState: new TraceState(traceState) }) }
}

export const linkOf = ({ context, attributes }: SpanLinkRecord): Link => ({
  context: spanContextOf(context),
  attributes: attributes as Attributes,
})

/** Adds what a handler's span, or its note, holds beside its attributes. */
export function addRecorded(
  span: Span,
  record: { readonly events: readonly SpanEventRecord[]; readonly status: SpanStatusRecord },
): void {
  for (const { name, attributes, time } of record.events)
    span.addEvent(name, attributes as Attributes, hrTimeOfRecord(time))
  span.setStatus({ code: STATUS_CODE[record.status.code], message: record.status.message })
}

/** Seconds and nanoseconds: a plain number could be taken for a reading of the steady clock. */
export function hrTimeOf(micros: number): HrTime {
  const seconds = Math.floor(micros / 1_000_000)
  return [seconds, Math.round((micros - seconds * 1_000_000) * 1_000)]
}

export const hrTimeOfRecord = ([seconds, nanos]: SpanTime): HrTime => [seconds, nanos]
