import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { InterceptingCall, type Interceptor, type Metadata, type StatusObject } from '@grpc/grpc-js'
import { statusName } from './errors.js'

const tracer = trace.getTracer('punctual')

const LINKS = createContextKey('punctual.links')

/** More would say nothing more, and SDKs cut links there. */
const MAX_LINKS = 128

const setHeader = {
  set(metadata: Metadata, key: string, value: string): void {
    metadata.set(key, value)
  },
}

/**
 * Makes a span of every call and sends its context along, by the conventions for RPC clients. With no OpenTelemetry SDK in the process it
 * does next to nothing.
 */
export function clientTracing(address: string): Interceptor {
  const server = serverAttributes(address)
  return (options, nextCall) => {
    const method = options.method_definition.path.slice(1)
    const active = context.active()
    const links = active.getValue(LINKS) as readonly Link[] | undefined
    const span = tracer.startSpan(method, {
      kind: SpanKind.CLIENT,
      attributes: { 'rpc.system.name': 'grpc', 'rpc.method': method, ...server },
      ...(links && { links: [...links] }),
    })
    const finish = (status: StatusObject): void => endSpan(span, status)
    return new InterceptingCall(nextCall(options), {
      start(metadata, _listener, next) {
        propagation.inject(trace.setSpan(active, span), metadata, setHeader)
        next(metadata, {
          onReceiveStatus(status, nextStatus) {
            finish(status)
            nextStatus(status)
          },
        })
      },
    })
  }
}

/** The span of one `schedule()`: the task's trace goes on from it, whichever batch the task travels in. */
export interface ScheduleSpan {
  /** What the task carries; '' when not traced. */
  readonly traceparent: string
  readonly tracestate: string
  /** The context of the span, for the call that carries the task. */
  readonly context: Context
  end(error?: Error): void
}

/** Begins the span of one `schedule()`, by the conventions for messages that are sent; nothing when nobody traces. */
export function startScheduleSpan(handler: string, id: string): ScheduleSpan | undefined {
  const active = context.active()
  const span = tracer.startSpan(`schedule ${handler}`, {
    kind: SpanKind.PRODUCER,
    attributes: {
      'messaging.system.name': 'punctual',
      'messaging.operation.name': 'schedule',
      'messaging.operation.type': 'send',
      'messaging.destination.name': handler,
      'messaging.message.id': id,
    },
  })
  if (!trace.isSpanContextValid(span.spanContext())) return undefined
  const spanned = trace.setSpan(active, span)
  const carrier: { traceparent?: string; tracestate?: string } = {}
  propagation.inject(spanned, carrier)
  return {
    traceparent: carrier.traceparent ?? '',
    tracestate: carrier.tracestate ?? '',
    context: spanned,
    end(error) {
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error.message })
      span.end()
    },
  }
}

/**
 * Runs the call that carries tasks: inside the span of a single one, linked to the spans of many.
 *
 * @param tasks - How many it carries, traced or not.
 */
export function inContextOf<T>(spans: readonly ScheduleSpan[], tasks: number, call: () => T): T {
  const [first] = spans
  // the batch is nobody's in particular: not of whoever happened to start it
  if (first === undefined) return context.with(ROOT_CONTEXT, call)
  if (tasks === 1) return context.with(first.context, call)
  const links = spans.slice(0, MAX_LINKS).flatMap((span) => {
    const linked = trace.getSpanContext(span.context)
    return linked === undefined ? [] : [{ context: linked }]
  })
  return context.with(ROOT_CONTEXT.setValue(LINKS, links), call)
}

function endSpan(span: Span, { code, details }: StatusObject): void {
  const name = statusName(code)
  span.setAttribute('rpc.status_code', name)
  // a stream that its reader leaves ends as CANCELLED: nothing is wrong with it
  if (name !== 'OK' && name !== 'CANCELLED') {
    span.setAttribute('error.type', name)
    span.setStatus({ code: SpanStatusCode.ERROR, message: details })
  }
  span.end()
}

function serverAttributes(address: string): Attributes {
  const colon = address.lastIndexOf(':')
  return { 'server.address': address.slice(0, colon), 'server.port': Number(address.slice(colon + 1)) }
}
