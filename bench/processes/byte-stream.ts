import type { ServerWritableStream, ServiceDefinition } from '@grpc/grpc-js'

const asIs = (bytes: Buffer): Buffer => bytes

/** A stream of bytes and nothing else: what gRPC itself can carry. */
export const BYTE_STREAM = {
  read: {
    path: '/bench.ByteStream/Read',
    requestStream: false,
    responseStream: true,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  },
} as const satisfies ServiceDefinition

/** What a reader asks for, as JSON. */
export interface ByteWish {
  readonly messages: number
  readonly bytesAMessage: number
}

/** Sends what is asked for, at the pace at which it is read: one buffer, again and again. */
export async function sendBytes(stream: ServerWritableStream<Buffer, Buffer>): Promise<void> {
  const { messages, bytesAMessage } = JSON.parse(stream.request.toString()) as ByteWish
  const message = Buffer.alloc(bytesAMessage, 1)
  for (let sent = 0; sent < messages; sent++)
    if (!stream.write(message)) await new Promise((resolve) => stream.once('drain', resolve))
  stream.end()
}
