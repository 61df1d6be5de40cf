import type { ClientReadableStream } from '@grpc/grpc-js'
import {
  Position,
  SchedulerServiceService as service,
  StreamResultsResponse,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { BYTE_STREAM, type ByteWish } from '../processes/byte-stream.js'
import { type Measured, measured, type Target } from './measured.js'
import { RawClient, streamMessage } from './raw-client.js'

/** What a log is, seen from a reader. */
export interface LogShape extends ByteWish {
  readonly results: number
}

/** Reads the whole log once, to see what it is. */
export async function measureLog({ target }: { readonly target: Target }): Promise<LogShape> {
  const client = await new RawClient(target.address).ready()
  let [results, messages, bytes] = [0, 0, 0]
  await untilEnd(openReplay(client), (message) => {
    results += StreamResultsResponse.decode(message).results.length
    messages++
    bytes += message.byteLength
  })
  client.close()
  return { results, messages, bytesAMessage: Math.round(bytes / messages) }
}

/**
 * Reads everything, by many readers at once, each on a connection of its own, which decode nothing: the figure is of the server and of gRPC.
 *
 * @param bare - Read as many messages of the same size from a server that has nothing to do but send them.
 */
export async function readAll({
  target,
  readers,
  shape,
  bare,
}: {
  readonly target: Target
  readonly readers: number
  readonly shape: LogShape
  readonly bare: boolean
}): Promise<Measured> {
  const clients = await Promise.all(
    Array.from({ length: readers }, () => new RawClient(target.address).ready()),
  )
  const wanted = shape.messages * shape.bytesAMessage
  const read = async (client: RawClient): Promise<void> => {
    let bytes = 0
    await untilEnd(bare ? openBytes(client, shape) : openReplay(client), (message) => {
      bytes += message.byteLength
    })
    if (bytes < wanted * 0.99) throw new Error(`a reader got ${bytes} bytes of ${wanted}`)
  }
  try {
    return await measured(target, shape.results * readers, async () => {
      await Promise.all(clients.map(read))
    })
  } finally {
    for (const client of clients) client.close()
  }
}

function untilEnd(stream: ClientReadableStream<Buffer>, take: (message: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.on('data', take)
    stream.once('error', reject)
    stream.once('end', resolve)
  })
}

function openReplay({ stub }: RawClient): ClientReadableStream<Buffer> {
  const { path, requestSerialize } = service.streamResults
  const whole = streamMessage(Position.EARLIEST, true)
  return stub.makeServerStreamRequest(path, requestSerialize, (bytes: Buffer) => bytes, whole)
}

function openBytes({ stub }: RawClient, { messages, bytesAMessage }: LogShape): ClientReadableStream<Buffer> {
  const { path, requestSerialize, responseDeserialize } = BYTE_STREAM.read
  const wish = Buffer.from(JSON.stringify({ messages, bytesAMessage } satisfies ByteWish))
  return stub.makeServerStreamRequest(path, requestSerialize, responseDeserialize, wish)
}
