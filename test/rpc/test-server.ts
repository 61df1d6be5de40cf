import {
  type ClientReadableStream,
  Client,
  credentials,
  type Deadline,
  Metadata,
  type MethodDefinition,
  type ServiceError,
  status,
} from '@grpc/grpc-js'
import { onTestFinished } from 'vitest'
import { ErrorInfo, BadRequest } from '../../proto/generated/google/rpc/error_details.js'
import { Status } from '../../proto/generated/google/rpc/status.js'
import {
  SchedulerServiceService,
  StreamResultsRequest,
  StreamResultsResponse,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { type Replacements, type RunningServer, startServer } from '../../server/compose.js'
import { readConfig } from '../../server/config/read-config.js'
import { SILENT } from '../../server/task/log.js'
import { InProcessExecutor, type RunInProcess } from '../../testing/in-process-executor.js'
import { VirtualClock } from '../../testing/virtual-clock.js'

/** The methods, by name. */
export const rpc = SchedulerServiceService

export interface TestServerOptions extends Replacements {
  /** Settings by name, as flags. */
  readonly flags?: Readonly<Record<string, unknown>>
  /** What handlers do; default: give the input back. */
  readonly run?: RunInProcess
}

/** A real server on a real port, in memory and on virtual time; gone when the test is over. */
export class TestServer {
  readonly clock: VirtualClock
  readonly server: RunningServer
  readonly #clients: Client[] = []

  private constructor(clock: VirtualClock, server: RunningServer) {
    this.clock = clock
    this.server = server
  }

  static async start({ flags = {}, run = echo, ...replace }: TestServerOptions = {}): Promise<TestServer> {
    const clock = new VirtualClock()
    const config = readConfig({
      // without a watchdog nothing happens between two events, so that a year of virtual time is short
      flags: { data: ':memory:', listen: '127.0.0.1:0', watchdogInterval: '0ms', ...flags },
      env: {},
    })
    const server = await startServer(config, {
      clock,
      log: SILENT,
      storeInline: true,
      executor: () => new InProcessExecutor({ clock, run }),
      ...replace,
    })
    const test = new TestServer(clock, server)
    onTestFinished(() => test.close())
    return test
  }

  get address(): string {
    return `127.0.0.1:${this.server.port}`
  }

  /** A client on a connection of its own. */
  client(): Client {
    const client = new Client(this.address, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
    })
    this.#clients.push(client)
    return client
  }

  /** Calls a method with a message, of which only some fields are said. @throws RpcFailure */
  async call<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Partial<Request> = {},
    client = this.#clients[0] ?? this.client(),
  ): Promise<Response> {
    const whole = { ...method.requestDeserialize(Buffer.alloc(0)), ...request }
    return method.responseDeserialize(
      await this.callRaw(method.path, method.requestSerialize(whole), { client }),
    )
  }

  /** Sends bytes to a path. @throws RpcFailure */
  callRaw(
    path: string,
    bytes: Buffer,
    { client = this.#clients[0] ?? this.client(), metadata = new Metadata(), deadline }: RawOptions = {},
  ): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const same = (it: Buffer): Buffer => it
      const options = deadline === undefined ? {} : { deadline }
      client.makeUnaryRequest(path, same, same, bytes, metadata, options, (error, answer) => {
        if (error) reject(new RpcFailure(error))
        else resolve(answer ?? Buffer.alloc(0))
      })
    })
  }

  /** Opens a stream of results, on a connection of its own unless one is given. */
  stream(
    request: Partial<StreamResultsRequest> = {},
    { client = this.client(), metadata = new Metadata(), deadline }: RawOptions = {},
  ): TestStream {
    const bytes = Buffer.from(
      StreamResultsRequest.encode({ ...StreamResultsRequest.create(), ...request }).finish(),
    )
    const call = client.makeServerStreamRequest(
      rpc.streamResults.path,
      (it: Buffer) => it,
      (it: Buffer) => StreamResultsResponse.decode(it),
      bytes,
      metadata,
      deadline === undefined ? {} : { deadline },
    )
    return new TestStream(call)
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close()
    await this.server.stop(0)
  }
}

interface RawOptions {
  readonly client?: Client
  readonly metadata?: Metadata
  readonly deadline?: Deadline
}

const echo: RunInProcess = ({ payload }) => ({ kind: 'succeeded', output: payload })

/** A stream as a test reads it: message by message. */
export class TestStream {
  readonly call: ClientReadableStream<StreamResultsResponse>
  readonly #messages: AsyncIterator<StreamResultsResponse>

  constructor(call: ClientReadableStream<StreamResultsResponse>) {
    this.call = call
    // an error without a listener would end the process
    call.on('error', () => {})
    this.#messages = call[Symbol.asyncIterator]() as AsyncIterator<StreamResultsResponse>
  }

  /** The next message; undefined when the stream ended with OK. @throws RpcFailure when it ended otherwise */
  async next(): Promise<StreamResultsResponse | undefined> {
    try {
      const step = await this.#messages.next()
      return step.done ? undefined : step.value
    } catch (error) {
      throw new RpcFailure(error as ServiceError)
    }
  }

  /** Task ids of all results until the stream ends with OK. */
  async idsUntilEnd(): Promise<string[]> {
    const ids: string[] = []
    for (let message = await this.next(); message; message = await this.next()) {
      ids.push(...message.results.map((result) => result.taskId))
    }
    return ids
  }
}

/** How a call failed, with its details unpacked. */
export class RpcFailure extends Error {
  readonly code: string
  readonly reason: string
  readonly facts: Readonly<Record<string, string>>
  /** Names of the fields that were wrong. */
  readonly fields: readonly string[]
  /** Bytes of the serialized details. */
  readonly detailBytes: number

  constructor(error: ServiceError) {
    super(error.details)
    this.code = status[error.code] ?? String(error.code)
    const [packed] = error.metadata?.get('grpc-status-details-bin') ?? []
    this.detailBytes = packed?.length ?? 0
    const details = Buffer.isBuffer(packed) ? Status.decode(packed).details : []
    const find = (name: string) => details.find(({ typeUrl }) => typeUrl.endsWith(`.${name}`))?.value
    const info = find('ErrorInfo')
    const request = find('BadRequest')
    const { reason = '', metadata = {} } = info ? ErrorInfo.decode(info) : {}
    this.reason = reason
    this.facts = metadata
    this.fields = request ? BadRequest.decode(request).fieldViolations.map(({ field }) => field) : []
  }
}

/** What a call failed with. */
export async function failureOf(call: Promise<unknown>): Promise<RpcFailure> {
  const answer: unknown = await call.then(
    () => new Error('the call succeeded'),
    (error: unknown) => error,
  )
  if (answer instanceof RpcFailure) return answer
  throw answer
}
