import {
  Client,
  type ClientReadableStream,
  credentials,
  type ChannelCredentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js'
import {
  SchedulerServiceService as service,
  type StreamResultsRequest,
  type StreamResultsResponse,
} from '../proto/generated/punctual/v1/scheduler_service.js'
import type { CallScope } from './call-scope.js'
import { clientTracing } from './client-tracing.js'
import { fromServiceError } from './errors.js'
import type { CompleteOptions, TlsOptions } from './options.js'

/** A call of one request and one answer, as the generated service describes it. */
export interface UnaryMethod<Request, Response> {
  readonly path: string
  readonly requestSerialize: (request: Request) => Buffer
  readonly responseDeserialize: (bytes: Buffer) => Response
}

const CHANNEL_OPTIONS = {
  // a small window halves the speed of a result stream
  'grpc-node.flow_control_window': 4 * 1024 * 1024,
  // a page or a stream message stops at 1 MiB, but holds at least one item
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
  // finds a peer that vanished while a call is open
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // a restarted server is found again within seconds; the default backs off up to two minutes
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  // tries are ours to decide: they depend on the server's reasons
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  // what one client does to its connection is no other client's trouble
  'grpc.use_local_subchannel_pool': 1,
}

/** The connection to one server: single tries of calls. It connects when first used, and again when it was lost. */
export class Connection {
  readonly #connect: () => Client
  #client: Client
  #isClosed = false

  constructor({ address, tls }: Pick<CompleteOptions, 'address' | 'tls'>) {
    this.#connect = () =>
      new Client(address, credentialsOf(tls), {
        ...CHANNEL_OPTIONS,
        ...(tls?.serverName !== undefined && { 'grpc.ssl_target_name_override': tls.serverName }),
        interceptors: [clientTracing(address)],
      })
    this.#client = this.#connect()
  }

  /** One try of a call. Rejects with the typed error. */
  call<Request, Response>(
    method: UnaryMethod<Request, Response>,
    request: Request,
    deadlineMs: number,
    scope: CallScope,
  ): Promise<Response> {
    return scope.step((resolve, reject) => {
      const settle = (error: ServiceError | null, response?: Response): void => {
        if (error !== null) reject(fromServiceError(error))
        else if (response === undefined) reject(new Error(`${method.path} answered nothing`))
        else resolve(response)
      }
      const call = this.#client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        new Metadata(),
        { deadline: Date.now() + deadlineMs },
        settle,
      )
      return () => call.cancel()
    })
  }

  /** One StreamResults call. */
  stream(request: StreamResultsRequest): ClientReadableStream<StreamResultsResponse> {
    const { path, requestSerialize, responseDeserialize } = service.streamResults
    return this.#client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request)
  }

  /**
   * How to give up what is the connection now, should it prove dead: what is called from then on goes over a new one. Without it a peer that vanished would be asked again
   * and again, until the keepalive gives it up. Calls under way are left alone.
   */
  abandoner(): () => void {
    const current = this.#client
    return () => {
      if (this.#isClosed || this.#client !== current) return
      this.#client = this.#connect()
      current.close()
    }
  }

  /** Lets go of the connection. */
  close(): void {
    this.#isClosed = true
    this.#client.close()
  }
}

function credentialsOf(tls: TlsOptions | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure()
  const { ca, cert, key } = tls
  return credentials.createSsl(pem(ca), pem(key), pem(cert))
}

const pem = (given: string | Uint8Array | undefined): Buffer | null =>
  given === undefined ? null : Buffer.from(given)
