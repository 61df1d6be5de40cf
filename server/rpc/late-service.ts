import {
  type handleUnaryCall,
  type MethodDefinition,
  type sendUnaryData,
  type ServerErrorResponse,
  type Server,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { Log } from '../task/log.js'
import { refuse, toServerError } from './wrap.js'

/** A method by its path, such as `/grpc.health.v1.Health/Check`. */
export interface LateMethod {
  readonly path: string
  /** Default: one request, one answer. */
  readonly streams?: 'answers' | 'both'
}

/** What a library adds its services to. */
export type ServiceTarget = Pick<Server, 'addService'>

/** How the library reads, answers and writes a method. */
interface Answering {
  readonly method: MethodDefinition<unknown, unknown>
  readonly handle: (call: object, send?: sendUnaryData<unknown>) => void
}

type AnyCall =
  | ServerUnaryCall<Buffer, Buffer>
  | ServerWritableStream<Buffer, Buffer>
  | ServerDuplexStream<Buffer, Buffer>

/**
 * Adds methods of a library that is loaded when one of them is called for the first time, or before: a start need not wait for it.
 *
 * @param load - Loads the library and gives back how it adds its services. When that fails the call does, and the next call tries again.
 * @returns loads the library now. Rejects when it cannot be loaded.
 * @example const warm = addLateService(server, [{ path: '/grpc.health.v1.Health/Check' }], async () => (await import('./health-library.js')).addTo, log)
 */
export function addLateService(
  server: Server,
  methods: readonly LateMethod[],
  load: () => Promise<(target: ServiceTarget) => void>,
  log: Log,
): () => Promise<void> {
  let loading: Promise<ReadonlyMap<string, Answering>> | undefined
  const loaded = (): Promise<ReadonlyMap<string, Answering>> => {
    loading ??= load().then(answersOf)
    loading.catch(() => {
      // the next call tries again
      loading = undefined
    })
    return loading
  }
  const answering = async (path: string): Promise<Answering> => {
    const found = (await loaded()).get(path)
    if (!found) throw new Error(`the library does not know ${path}`)
    return found
  }
  for (const { path, streams } of methods) {
    const handle: handleUnaryCall<Buffer, Buffer> = (call: AnyCall, send?: sendUnaryData<Buffer>) => {
      answering(path)
        .then((answer) => hand(call, send, answer, log))
        .catch((error: unknown) => fail(call, send, toServerError(error, log, path)))
    }
    server.addService({ method: bytesThrough(path, streams) }, { method: handle })
  }
  return async () => void (await loaded())
}

/** What a library adds, by path. */
function answersOf(addTo: (target: ServiceTarget) => void): ReadonlyMap<string, Answering> {
  const answers = new Map<string, Answering>()
  addTo({
    addService(service: ServiceDefinition, implementation: UntypedServiceImplementation) {
      for (const [name, method] of Object.entries(service))
        answers.set(method.path, {
          method,
          handle: (implementation[name] ?? implementation[method.originalName ?? '']) as Answering['handle'],
        })
    },
  })
  return answers
}

/** A method whose messages are read and written by whoever answers. */
function bytesThrough(path: string, streams: LateMethod['streams']): MethodDefinition<Buffer, Buffer> {
  const same = (bytes: Buffer): Buffer => bytes
  return {
    path,
    requestStream: streams === 'both',
    responseStream: streams !== undefined,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  }
}

/** Hands a call to the library, which knows messages where the call has bytes. */
function hand(call: AnyCall, send: sendUnaryData<Buffer> | undefined, answering: Answering, log: Log): void {
  // who watches is told when a call ends, and this one has ended already
  if (call.cancelled) return
  const { method, handle } = answering
  const request = 'request' in call ? read(method, call.request) : undefined
  if (send) {
    handle({ request }, (error, value) => {
      if (error) send(error)
      else send(null, method.responseSerialize(value))
    })
    return
  }
  const stream = call as ServerDuplexStream<Buffer, Buffer>
  handle({
    request,
    on: (event: string, listener: (value: unknown) => void) =>
      stream.on(event, (value: unknown) => {
        if (event !== 'data') return listener(value)
        try {
          listener(read(method, value as Buffer))
        } catch (error) {
          fail(stream, undefined, toServerError(error, log, method.path))
        }
      }),
    write: (message: unknown) => stream.write(method.responseSerialize(message)),
    end: () => stream.end(),
  })
}

function read(method: Answering['method'], bytes: Buffer): unknown {
  try {
    return method.requestDeserialize(bytes)
  } catch (error) {
    return refuse(error)
  }
}

function fail(call: AnyCall, send: sendUnaryData<Buffer> | undefined, error: ServerErrorResponse): void {
  if (send) send(error)
  else call.emit('error', error)
}
