/** What an attribute of a span may hold. */
export type SpanValue = string | number | boolean | readonly (string | number | boolean | null | undefined)[]
export type SpanAttributes = Readonly<Record<string, SpanValue | undefined>>

/** Seconds and nanoseconds since 1970: a handler's spans keep the precision of their own clock. */
export type SpanTime = readonly [seconds: number, nanos: number]

export interface SpanContextRecord {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  /** Bit 0 = sampled. */
  readonly traceFlags: number
  /** W3C text; '' = none. */
  readonly traceState: string
}

export interface SpanEventRecord {
  readonly name: string
  readonly time: SpanTime
  readonly attributes: SpanAttributes
}

export interface SpanLinkRecord {
  readonly context: SpanContextRecord
  readonly attributes: SpanAttributes
}

/** `code`: 0 unset, 1 ok, 2 error, as in OpenTelemetry. */
export interface SpanStatusRecord {
  readonly code: 0 | 1 | 2
  readonly message: string
}

/** A span that a handler made and ended. */
export interface HandlerSpan {
  readonly kind: 'span'
  readonly context: SpanContextRecord
  /** Absent: a root. */
  readonly parent?: SpanContextRecord
  readonly name: string
  /** As in OpenTelemetry: 0 internal, 1 server, 2 client, 3 producer, 4 consumer. */
  readonly spanKind: 0 | 1 | 2 | 3 | 4
  readonly startTime: SpanTime
  readonly endTime: SpanTime
  readonly attributes: SpanAttributes
  readonly events: readonly SpanEventRecord[]
  readonly links: readonly SpanLinkRecord[]
  readonly status: SpanStatusRecord
  /** The instrumentation library that made it. */
  readonly scope: { readonly name: string; readonly version: string }
}

/** What a handler added to the span of its attempt, which the main thread keeps. */
export interface AttemptNote {
  readonly kind: 'note'
  readonly startId: number
  readonly attributes: SpanAttributes
  readonly events: readonly SpanEventRecord[]
  readonly links: readonly SpanLinkRecord[]
  readonly status: SpanStatusRecord
}

/** What a thread tells of its traces, as plain data: a tracer's own objects do not cross a thread. */
export type SpanRecord = HandlerSpan | AttemptNote
