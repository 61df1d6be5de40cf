import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerErrorResponse,
  type ServerUnaryCall,
} from '@grpc/grpc-js'
import { trace } from '@opentelemetry/api'
import { v4 as uuid } from 'uuid'
import { InvalidRequestError } from '../task/errors.js'
import type { Log } from '../task/log.js'
import { ResponseStream } from './response-stream.js'
import { isUnforeseen, toRpcError } from './status.js'

/** What a handler may know of its call besides the request. */
export interface Call {
  readonly metadata: Metadata
  /** Aborted once nobody waits for the answer any more: cancelled, or past its deadline. */
  readonly signal: AbortSignal
}

/** How the messages of a method are read and written. */
export interface Codec<Request, Response> {
  /** Throws for bytes that are no such message. A promise only for messages that may be long: the way of the others pays for none. */
  decode(bytes: Buffer, call: Pick<Call, 'metadata'>): Request | Promise<Request>
  encode(response: Response): Uint8Array | Promise<Uint8Array>
}

/**
 * The wrapper around every unary handler: grpc-js leaves a caller without an answer when a handler rejects, says INTERNAL for a request that is none, and never tells a
 * handler that its caller has gone.
 */
export function unary<Request, Response>(
  codec: Codec<Request, Response>,
  handle: (request: Request, call: Call) => Response | Promise<Response>,
  log: Log,
): handleUnaryCall<Buffer, Buffer> {
  const answer = async (call: ServerUnaryCall<Buffer, Buffer>): Promise<Buffer> => {
    const decoding = decode(codec, call.request, call)
    const request = decoding instanceof Promise ? await decoding : decoding
    const encoding = codec.encode(await handle(request, new UnaryCall(call)))
    const bytes = encoding instanceof Promise ? await encoding : encoding
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }
  return (call, send) => {
    answer(call)
      // two functions, not a catch: what goes wrong while the answer is sent must not be answered a second time
      .then(
        (bytes) => send(null, bytes),
        (error: unknown) => send(toServerError(error, log, call.getPath())),
      )
      .catch((error: unknown) => log.error('an answer could not be sent', { method: call.getPath(), error }))
  }
}

/** The same for a handler that sends many messages: it resolves when the stream shall end well. */
export function serverStream<Request>(
  codec: Pick<Codec<Request, never>, 'decode'>,
  handle: (request: Request, stream: ResponseStream) => Promise<void>,
  log: Log,
): handleServerStreamingCall<Buffer, Buffer> {
  return (call) => {
    const stream = new ResponseStream(call)
    const run = async (): Promise<void> => handle(await decode(codec, call.request, call), stream)
    run().then(
      () => call.end(),
      (error: unknown) => {
        // an error is emitted, not thrown or passed to destroy: only so is a status sent
        if (!call.cancelled) call.emit('error', toServerError(error, log, call.getPath()))
      },
    )
  }
}

function decode<Request>(
  codec: Pick<Codec<Request, never>, 'decode'>,
  bytes: Buffer,
  call: { readonly metadata: Metadata },
): Request | Promise<Request> {
  try {
    const decoding = codec.decode(bytes, call)
    return decoding instanceof Promise ? decoding.catch(refuse) : decoding
  } catch (error) {
    return refuse(error)
  }
}

/** What is said of bytes that could not be decoded. */
export function refuse(error: unknown): never {
  if (!isUnforeseen(error)) throw error
  const why = error instanceof Error ? error.message : String(error)
  const description = `the bytes are not such a message: ${why}`
  throw new InvalidRequestError([{ field: 'request', description }], 'INVALID_REQUEST')
}

/** What grpc-js sends for a thrown error; what nobody foresaw is logged. */
export function toServerError(error: unknown, log: Log, method: string): ServerErrorResponse {
  const incident = trace.getActiveSpan()?.spanContext().traceId ?? uuid()
  if (isUnforeseen(error))
    log.error('a call failed in a way that nobody foresaw', { method, incident, error })
  const { code, message, details } = toRpcError(error, incident)
  const metadata = new Metadata()
  metadata.set('grpc-status-details-bin', details)
  return { name: 'RpcError', message, code, details: message, metadata }
}

/** Makes its signal only for a handler that asks: most answer at once. */
class UnaryCall implements Call {
  readonly #call: ServerUnaryCall<Buffer, Buffer>
  #signal: AbortSignal | undefined

  constructor(call: ServerUnaryCall<Buffer, Buffer>) {
    this.#call = call
  }

  get metadata(): Metadata {
    return this.#call.metadata
  }

  get signal(): AbortSignal {
    if (!this.#signal) {
      const gone = new AbortController()
      if (this.#call.cancelled) gone.abort()
      // comes after every call, also a good one: then nobody listens any more
      else this.#call.once('cancelled', () => gone.abort())
      this.#signal = gone.signal
    }
    return this.#signal
  }
}
