import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'punctual'
import { Position } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { inFlight, type Measured, measured, type Target } from './measured.js'
import { RawClient, streamMessage, taskMessage } from './raw-client.js'

/** Until a stream is open: the bare echo, unlike a server, sends nobody what came before. */
const OPENING_MS = 200

/** How tasks get to the server. */
export type Way =
  | { readonly kind: 'batches'; readonly size: number; readonly inFlight: number }
  | { readonly kind: 'unary'; readonly inFlight: number }
  | { readonly kind: 'coalesced'; readonly inFlight: number }

export interface Drain {
  readonly target: Target
  readonly tasks: number
  readonly way: Way
  /** Trace context that the tasks bring along, one after another. */
  readonly traceparents?: readonly string[]
}

/** The whole way: tasks that are due at once are sent, stored, run, stored again, and their results seen by a consumer in this same process. */
export function drain(given: Drain): Promise<Measured> {
  return given.way.kind === 'coalesced' ? drainWithSdk(given) : drainRaw(given)
}

async function drainRaw({ target, tasks, way, traceparents = [''] }: Drain): Promise<Measured> {
  const client = await new RawClient(target.address).ready()
  const consumer = await new RawClient(target.address).ready()
  const seen = new Seen(tasks)
  const stream = consumer.stub.streamResults(streamMessage(Position.LATEST))
  stream.on('error', (error) => seen.fail(error))
  await new Promise<void>((resolve) => stream.once('data', () => resolve()))
  stream.on('data', (message: { readonly results: readonly unknown[] }) => seen.add(message.results.length))
  const size = way.kind === 'batches' ? way.size : 1
  const send = async (index: number): Promise<void> => {
    const requests = Array.from({ length: Math.min(size, tasks - index * size) }, (_, i) =>
      taskMessage({ traceparent: traceparents[(index * size + i) % traceparents.length] ?? '' }),
    )
    const [first] = requests
    if (way.kind === 'batches') await client.scheduleBatch(requests)
    else if (first) await client.schedule(first)
  }
  try {
    return await measured(target, tasks, async () => {
      await Promise.all([inFlight(Math.ceil(tasks / size), way.inFlight, send), seen.all])
    })
  } finally {
    stream.cancel()
    client.close()
    consumer.close()
  }
}

async function drainWithSdk({ target, tasks, way }: Drain): Promise<Measured> {
  await using client = createClient({ address: target.address })
  const seen = new Seen(tasks + 1)
  const results = client.results({ since: new Date(), filter: { origins: [client.origin] } })
  const reading = (async (): Promise<void> => {
    for await (const _ of results) seen.add(1)
  })()
  reading.catch((error: unknown) => seen.fail(error))
  const input = { n: 1, text: 'hello world, hello world, hello world' }
  await sleep(OPENING_MS)
  // the reader stands at its place once this one has come through
  await client.schedule('echo', input)
  await seen.first
  return await measured(target, tasks, async () => {
    const sending = inFlight(tasks, way.inFlight, async () => {
      await client.schedule('echo', input)
    })
    await Promise.all([sending, seen.all])
  })
}

/** A task alone: scheduled, run, its result seen by a consumer, one after another. The times are of the whole way. */
export async function roundTrips({
  target,
  tasks,
}: {
  readonly target: Target
  readonly tasks: number
}): Promise<Measured> {
  const client = await new RawClient(target.address).ready()
  const consumer = await new RawClient(target.address).ready()
  let seen: () => void = () => {}
  const stream = consumer.stub.streamResults(streamMessage(Position.LATEST))
  stream.on('error', () => {})
  await new Promise<void>((resolve) => stream.once('data', () => resolve()))
  stream.on('data', ({ results }: { readonly results: readonly unknown[] }) => {
    if (results.length > 0) seen()
  })
  try {
    return await measured(target, tasks, async (times) => {
      for (let i = 0; i < tasks; i++) {
        const since = performance.now()
        const result = new Promise<void>((resolve) => (seen = resolve))
        await Promise.all([client.schedule(taskMessage()), result])
        times.push(performance.now() - since)
      }
    })
  } finally {
    stream.cancel()
    client.close()
    consumer.close()
  }
}

/** Counts what a consumer has seen. */
class Seen {
  readonly all: Promise<void>
  readonly first: Promise<void>
  #left: number
  #resolve!: () => void
  #resolveFirst!: () => void
  #reject!: (error: unknown) => void

  constructor(tasks: number) {
    this.#left = tasks
    this.first = new Promise((resolve) => (this.#resolveFirst = resolve))
    this.all = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // nobody may wait yet when it fails
    this.all.catch(() => {})
  }

  add(count: number): void {
    this.#left -= count
    this.#resolveFirst()
    if (this.#left <= 0) this.#resolve()
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}
