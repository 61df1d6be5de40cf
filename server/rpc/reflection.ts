import { type MethodDefinition, type Server, type ServerDuplexStream, status } from '@grpc/grpc-js'
import type { Answering } from './reflection-answers.js'

const VERSIONS = ['v1', 'v1alpha']

type Questions = ServerDuplexStream<Buffer, Buffer>

/**
 * Adds server reflection v1 and v1alpha, so that grpcurl, buf curl and their like need no proto file.
 *
 * What answers is loaded at the first question: it takes a sixth of a start, and most servers are never asked (docs/decisions/start.md).
 */
export function addReflection(server: Server): void {
  let loading: Promise<ReadonlyMap<string, Answering>> | undefined
  const answer = async (call: Questions, path: string): Promise<void> => {
    try {
      loading ??= import('./reflection-answers.js').then(({ reflectionAnswers }) => reflectionAnswers())
      join(call, (await loading).get(path) as Answering)
    } catch (error) {
      fail(call, `reflection cannot be loaded: ${(error as Error).message}`)
    }
  }
  for (const version of VERSIONS) {
    const path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`
    server.addService({ info: bytesThrough(path) }, { info: (call: Questions) => void answer(call, path) })
  }
}

/** A method whose messages are read and written by whoever answers. */
function bytesThrough(path: string): MethodDefinition<Buffer, Buffer> {
  const same = (bytes: Buffer): Buffer => bytes
  return {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  }
}

function join(call: Questions, { method, handle }: Answering): void {
  handle({
    on: (event, listener) =>
      call.on(event, (bytes: Buffer) => {
        if (event !== 'data') return listener(bytes)
        try {
          listener(method.requestDeserialize(bytes))
        } catch (error) {
          fail(call, `not a question: ${(error as Error).message}`)
        }
      }),
    write: (message) => call.write(method.responseSerialize(message)),
    end: () => call.end(),
  })
}

function fail(call: Questions, details: string): void {
  call.emit('error', { code: status.INTERNAL, details })
}
