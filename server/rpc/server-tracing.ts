import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServerListener,
  status as Code,
} from '@grpc/grpc-js'
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import type { Clock } from '../clock.js'

/** What the conventions count as the server's own error; the others tell the caller of the caller's. */
const SERVER_ERRORS: ReadonlySet<Code> = new Set([
  Code.UNKNOWN,
  Code.DEADLINE_EXCEEDED,
  Code.UNIMPLEMENTED,
  Code.INTERNAL,
  Code.UNAVAILABLE,
  Code.DATA_LOSS,
])

/** A cancel that comes this close to the deadline is the deadline's: the caller's own timer began a little earlier, and Node's may fire early. */
const NEARLY_MS = 20

/**
 * Gives every call of our own services a span: a child of the caller's, active while the handler runs, ended however the call ends: also a stream that the
 * client cancels, a deadline that passes, a handler that throws. Health checks and reflection have none.
 *
 * @example new Server({ interceptors: telemetry.traces ? [serverTracing(systemClock)] : [] })
 */
export function serverTracing(clock: Clock): ServerInterceptor {
  const tracer = trace.getTracer('punctual')
  return (method, call) => {
    if (!method.path.startsWith('/punctual.')) return new ServerInterceptingCall(call)
    const traced = new TracedCall(tracer, method.path.slice(1), call, clock)
    return new ServerInterceptingCall(call, {
      start: (next) => next(traced.listener()),
      sendStatus: (status, next) => {
        traced.end(status.code ?? Code.OK)
        next(status)
      },
    })
  }
}

/** One call and its span. */
class TracedCall {
  readonly #tracer: Tracer
  readonly #method: string
  readonly #call: ServerInterceptingCallInterface
  readonly #clock: Clock
  #context: Context = ROOT_CONTEXT
  #span: Span | undefined

  constructor(tracer: Tracer, method: string, call: ServerInterceptingCallInterface, clock: Clock) {
    this.#tracer = tracer
    this.#method = method
    this.#call = call
    this.#clock = clock
  }

  /** Everything that comes in is handed on with the span active: the handler starts in one of these. */
  listener(): ServerListener {
    return {
      onReceiveMetadata: (metadata, next) => {
        this.#start(metadata)
        context.with(this.#context, next, undefined, metadata)
      },
      onReceiveMessage: (message: unknown, next) => context.with(this.#context, next, undefined, message),
      onReceiveHalfClose: (next) => context.with(this.#context, next),
      // Comes after every call, also a good one. Without a status before it, the status was not the handler's.
      onCancel: () => this.end(this.#deadlinePassed() ? Code.DEADLINE_EXCEEDED : Code.CANCELLED),
    }
  }

  end(code: Code): void {
    const span = this.#span
    if (span === undefined) return
    this.#span = undefined
    span.setAttribute('rpc.status_code', Code[code])
    if (SERVER_ERRORS.has(code)) {
      span.setAttribute('error.type', Code[code])
      span.setStatus({ code: SpanStatusCode.ERROR })
    }
    span.end()
  }

  #start(metadata: Metadata): void {
    const caller = propagation.extract(ROOT_CONTEXT, metadata, METADATA)
    const attributes = { 'rpc.system.name': 'grpc', 'rpc.method': this.#method }
    this.#span = this.#tracer.startSpan(this.#method, { kind: SpanKind.SERVER, attributes }, caller)
    this.#context = trace.setSpan(caller, this.#span)
    if (!this.#span.isRecording()) return
    const { remoteAddress, remotePort, localPort } = this.#call.getConnectionInfo()
    if (remoteAddress) this.#span.setAttribute('network.peer.address', remoteAddress)
    if (remotePort) this.#span.setAttribute('network.peer.port', remotePort)
    if (localPort) this.#span.setAttribute('server.port', localPort)
  }

  #deadlinePassed(): boolean {
    const deadline = this.#call.getDeadline()
    return this.#clock.now() + NEARLY_MS >= (deadline instanceof Date ? deadline.getTime() : deadline)
  }
}

const METADATA: TextMapGetter<Metadata> = {
  keys: (metadata) => Object.keys(metadata.getMap()),
  get: (metadata, key) => {
    const values = metadata.get(key).filter((value): value is string => typeof value === 'string')
    return values.length > 1 ? values : values[0]
  },
}
