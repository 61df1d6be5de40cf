import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  trace,
  TraceFlags,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api'
import { type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace-base'
import type { HandlerSpan } from '../task/span-record.js'
import { addRecorded, hrTimeOf, hrTimeOfRecord, linkOf, SPAN_KIND, spanContextOf } from './span-form.js'
import type { SpanIds } from './span-ids.js'
import { saysUnsampled } from './traceparent.js'

/** A span that has an id and was decided on, but has not started. */
export interface PlannedSpan {
  readonly name: string
  readonly kind: SpanKind
  readonly context: SpanContext
  /** What it is a child of; ROOT_CONTEXT for a root. */
  readonly parent: Context
  readonly links: readonly Link[]
}

/** The parts of tracing; `opentelemetry` makes them from the settings, tests from an exporter in memory. */
export interface TracingParts {
  readonly provider: TracerProvider
  readonly ids: SpanIds
  /** The same one that the provider has. */
  readonly sampler: Sampler
  /** The sampler keeps what the parent decided, if there is one. */
  readonly followsParent: boolean
}

/** Makes spans whose ids, and whose being sampled, were settled before they start. */
export class Tracing {
  readonly #provider: TracerProvider
  readonly #ids: SpanIds
  readonly #sampler: Sampler
  readonly #tracer: Tracer
  readonly #followsParent: boolean

  constructor({ provider, ids, sampler, followsParent }: TracingParts) {
    this.#followsParent = followsParent
    this.#provider = provider
    this.#ids = ids
    this.#sampler = sampler
    this.#tracer = provider.getTracer('punctual')
  }

  /** Whether a child of this context would not be sampled, as far as can be told without looking closer. */
  rulesOut(traceparent: string): boolean {
    return this.#followsParent && saysUnsampled(traceparent)
  }

  /** Decides on a span and gives it its ids; undefined = not sampled, and nothing was made. */
  plan(
    name: string,
    kind: SpanKind,
    parent: Context,
    links: () => readonly Link[] = () => [],
  ): PlannedSpan | undefined {
    const above = trace.getSpanContext(parent)
    const traceId = above?.traceId ?? this.#ids.generateTraceId()
    const { decision, traceState } = this.#sampler.shouldSample(parent, traceId, name, kind, {}, [])
    if (decision !== SamplingDecision.RECORD_AND_SAMPLED) return undefined
    const state = traceState ?? above?.traceState
    const context: SpanContext = {
      traceId,
      spanId: this.#ids.generateSpanId(),
      traceFlags: TraceFlags.SAMPLED,
      ...(state && { traceState: state }),
    }
    return { name, kind, context, parent, links: links() }
  }

  /** Starts what was planned. Attributes are added after: the SDK copies those it starts with three times, for a sampler that has decided already. */
  start(planned: PlannedSpan, startTimeUs: number, attributes: Attributes): Span {
    const { name, kind, parent, context } = planned
    const options = { kind, startTime: hrTimeOf(startTimeUs), links: [...planned.links] }
    return this.#ids
      .with(context, () => this.#tracer.startSpan(name, options, parent))
      .setAttributes(attributes)
  }

  /** A span of known times. */
  record(
    name: string,
    parent: Context,
    times: { readonly startTimeUs: number; readonly endTimeUs: number },
    attributes: Attributes,
  ): void {
    const startTime = hrTimeOf(Math.min(times.startTimeUs, times.endTimeUs))
    this.#tracer
      .startSpan(name, { kind: SpanKind.INTERNAL, startTime }, parent)
      .setAttributes(attributes)
      .end(hrTimeOf(times.endTimeUs))
  }

  /** Makes a span of this process of one that a handler made in its thread: the SDK's limits, processors and exporters see one kind of span. */
  replay(record: HandlerSpan): void {
    const tracer = this.#provider.getTracer(record.scope.name, record.scope.version)
    const options = {
      kind: SPAN_KIND[record.spanKind],
      startTime: hrTimeOfRecord(record.startTime),
      attributes: record.attributes as Attributes,
      links: record.links.map(linkOf),
    }
    const parent = record.parent
      ? trace.setSpanContext(ROOT_CONTEXT, spanContextOf(record.parent))
      : ROOT_CONTEXT
    const span = this.#ids.with(record.context, () => tracer.startSpan(record.name, options, parent))
    addRecorded(span, record)
    span.end(hrTimeOfRecord(record.endTime))
  }
}
