import { once } from 'node:events'
import {
  type handleUnaryCall,
  type Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from '@grpc/grpc-js'
import {
  type SchedulerServiceServer,
  SchedulerServiceService,
  type StreamResultsRequest,
  StreamResultsResponse,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { RpcError } from './rpc-error.js'

type UnaryName = Exclude<keyof typeof SchedulerServiceService, 'streamResults'>
type RequestOf<Name extends UnaryName> =
  SchedulerServiceServer[Name] extends handleUnaryCall<infer Request, infer _> ? Request : never
type ResponseOf<Name extends UnaryName> =
  SchedulerServiceServer[Name] extends handleUnaryCall<infer _, infer Response> ? Response : never

/** What the fake server does with a call; it may throw an {@link RpcError}, or never answer. */
export type Script<Name extends UnaryName> = (
  request: RequestOf<Name>,
  metadata: Metadata,
) => ResponseOf<Name> | Promise<ResponseOf<Name>>

/** One call that came. */
export interface SeenCall {
  readonly name: UnaryName
  readonly request: unknown
  readonly metadata: Metadata
  /** Milliseconds until the deadline that came with it. */
  readonly deadline: number
  /** Resolves when the client has cancelled it. */
  readonly cancelled: Promise<void>
}

/** A gRPC server with the real service definition and scripted answers, in the test's own process. */
export class FakeService {
  readonly seen: SeenCall[] = []
  readonly streams: FakeStream[] = []
  readonly #server = new Server()
  readonly #scripts = new Map<UnaryName, Script<UnaryName>>()
  readonly #watchers = new Set<() => void>()
  #port = 0

  static async start(): Promise<FakeService> {
    const service = new FakeService()
    service.#server.addService(SchedulerServiceService, service.#implementation())
    service.#port = await new Promise<number>((resolve, reject) =>
      service.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(port) : reject(error),
      ),
    )
    return service
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`
  }

  /** From now on calls of this name are answered so. */
  answer<Name extends UnaryName>(name: Name, script: Script<Name>): void {
    this.#scripts.set(name, script)
  }

  /** The requests of one name, in order of arrival. */
  requests<Name extends UnaryName>(name: Name): RequestOf<Name>[] {
    return this.seen.filter((call) => call.name === name).map(({ request }) => request as RequestOf<Name>)
  }

  /** The call number `n` (from 1) of this name, when it has come. */
  async call(name: UnaryName, n = 1): Promise<SeenCall> {
    return this.#until(() => this.seen.filter((call) => call.name === name)[n - 1])
  }

  /** The stream number `n` (from 1), when it has been opened. */
  async stream(n = 1): Promise<FakeStream> {
    return this.#until(() => this.streams[n - 1])
  }

  stop(): void {
    this.#server.forceShutdown()
  }

  async #until<T>(look: () => T | undefined): Promise<T> {
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      await new Promise<void>((resolve) => this.#watchers.add(resolve))
    }
  }

  #tell(): void {
    const watchers = [...this.#watchers]
    this.#watchers.clear()
    for (const watcher of watchers) watcher()
  }

  #implementation(): SchedulerServiceServer {
    const unary = (name: UnaryName) => {
      return (call: ServerUnaryCall<unknown, unknown>, callback: sendUnaryData<unknown>): void => {
        const cancelled = new Promise<void>((resolve) => call.on('cancelled', () => resolve()))
        const deadline = Number(call.getDeadline()) - Date.now()
        this.seen.push({ name, request: call.request, metadata: call.metadata, deadline, cancelled })
        this.#tell()
        void this.#answer(name, call, callback)
      }
    }
    const names = (Object.keys(SchedulerServiceService) as (UnaryName | 'streamResults')[]).filter(
      (name) => name !== 'streamResults',
    )
    const methods = Object.fromEntries(names.map((name) => [name, unary(name)]))
    const streamResults = (call: ServerWritableStream<StreamResultsRequest, StreamResultsResponse>): void => {
      this.streams.push(new FakeStream(call))
      this.#tell()
    }
    return { ...methods, streamResults } as unknown as SchedulerServiceServer
  }

  async #answer(
    name: UnaryName,
    call: ServerUnaryCall<unknown, unknown>,
    callback: sendUnaryData<unknown>,
  ): Promise<void> {
    try {
      callback(null, await this.#respond(name, call))
    } catch (error) {
      callback(error as RpcError)
    }
  }

  async #respond(name: UnaryName, call: ServerUnaryCall<unknown, unknown>): Promise<unknown> {
    const script = this.#scripts.get(name)
    if (script === undefined) throw new RpcError('UNIMPLEMENTED', `${name} has no script`)
    return script(call.request as RequestOf<UnaryName>, call.metadata)
  }
}

/** One StreamResults call, as the server sees it. */
export class FakeStream {
  readonly request: StreamResultsRequest
  readonly metadata: Metadata
  /** Resolves when the client has ended the call. */
  readonly left: Promise<void>
  readonly #call: ServerWritableStream<StreamResultsRequest, StreamResultsResponse>

  constructor(call: ServerWritableStream<StreamResultsRequest, StreamResultsResponse>) {
    this.#call = call
    this.request = call.request
    this.metadata = call.metadata
    this.left = new Promise((resolve) => call.on('cancelled', () => resolve()))
  }

  /** Sends a message; false when flow control asks to wait. */
  send(message: Partial<StreamResultsResponse>): boolean {
    return this.#call.write(StreamResultsResponse.create({ logId: 'log', ...message }))
  }

  /** Resolves when flow control lets more be sent. */
  async drained(): Promise<void> {
    await once(this.#call, 'drain')
  }

  /** Ends the call with OK. */
  end(): void {
    this.#call.end()
  }

  /** Ends the call with an error, after what was sent. */
  fail(error: RpcError = new RpcError('UNAVAILABLE', 'the server stops', { reason: 'DRAINING' })): void {
    this.#call.emit('error', { code: error.code, details: error.message, metadata: error.metadata })
  }
}

/** Never answers. */
export const silence = (): Promise<never> => new Promise(() => {})
