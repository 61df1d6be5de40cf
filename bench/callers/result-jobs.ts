import { Metadata } from '@grpc/grpc-js'
import {
  Position,
  SchedulerServiceService as service,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { type Measured, measured, type Target } from './measured.js'
import { RawClient, streamMessage } from './raw-client.js'

/** Everything that the log holds, from the first entry on, to one reader. @param echo - How many the bare echo shall send instead. */
export async function replay({
  target,
  echo,
}: {
  readonly target: Target
  readonly echo?: number
}): Promise<Measured> {
  const client = await new RawClient(target.address).ready()
  const metadata = new Metadata()
  if (echo !== undefined) metadata.set('bench-results', String(echo))
  let seen = 0
  try {
    // how many there are is known only afterwards
    const total = await measured(
      target,
      1,
      () =>
        new Promise<void>((resolve, reject) => {
          const stream = client.stub.streamResults(streamMessage(Position.EARLIEST, true), metadata)
          stream.on(
            'data',
            ({ results }: { readonly results: readonly unknown[] }) => (seen += results.length),
          )
          stream.once('error', reject)
          stream.once('end', resolve)
        }),
    )
    return {
      ...total,
      tasks: seen,
      perSecond: total.perSecond * seen,
      serverUs: total.serverUs / seen,
      serverMainUs: total.serverMainUs / seen,
      clientUs: total.clientUs / seen,
    }
  } finally {
    client.close()
  }
}

/** Readers that count bytes and decode nothing, each on a connection of its own: the figure is of the server. Stopped by {@link stopReaders}. */
export async function startReaders({
  target,
  readers,
}: {
  readonly target: Target
  readonly readers: number
}): Promise<void> {
  for (let i = 0; i < readers; i++) {
    const client = await new RawClient(target.address).ready()
    const { path, requestSerialize } = service.streamResults
    const stream = client.stub.makeServerStreamRequest(
      path,
      requestSerialize,
      (bytes: Buffer) => bytes.byteLength,
      streamMessage(Position.LATEST),
    )
    stream.on('error', () => {})
    const reader = { client, stream, bytes: 0 }
    open.push(reader)
    await new Promise<void>((resolve) => stream.once('data', () => resolve()))
    stream.on('data', (bytes: number) => (reader.bytes += bytes))
  }
}

/** Ends the readers; what each of them has read. */
export async function stopReaders(): Promise<readonly number[]> {
  const read = open.map(({ bytes }) => bytes)
  for (const { client, stream } of open.splice(0)) {
    stream.cancel()
    client.close()
  }
  return read
}

const open: { client: RawClient; stream: { cancel(): void }; bytes: number }[] = []
