import { setTimeout as sleep } from 'node:timers/promises'
import { type ClientReadableStream, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import {
  type AckResultsRequest,
  Position,
  SchedulerServiceClient,
  StreamResultsRequest,
  type StreamResultsResponse,
} from '../../../proto/generated/punctual/v1/scheduler_service.js'
import { fromServiceError } from '../../../client/errors.js'
import { toFilterMessage } from '../../../client/result-stream.js'
import { toTimestamp } from '../../../client/wire-time.js'
import type { ReaderPlan } from './plan.js'
import type { Random } from './random.js'
import { type Received, Reading } from './reading.js'

const ACKNOWLEDGE_MS = 5_000

/** What a reader needs beside its plan. */
export interface ReaderParts {
  readonly address: string
  readonly random: Random
  readonly since: Date
  /** Resolves when retention has removed what comes after this cursor. */
  readonly overtaken: (cursor: string) => Promise<void>
  /** Whether everything up to this cursor is all there will be. */
  readonly isLast: (cursor: string) => boolean
}

/** Reads as a program in any language does: by cursor, opened again whenever it breaks. */
export async function readStream(plan: ReaderPlan, parts: ReaderParts): Promise<Reading> {
  const reading = new Reading()
  await eachMessage(plan, parts, {
    start: () => reading.cursor,
    opened: (cursor) => {
      reading.streams++
      reading.stand(cursor)
    },
    take: async ({ results, cursor }) => {
      reading.keep(results.map(plain), cursor)
      return parts.isLast(cursor)
    },
    expired: (earliest) => reading.lose(earliest),
  })
  return reading
}

/**
 * Reads as a durable consumer that loses nothing and doubles nothing: what came is kept once it is acknowledged. After a break the first message tells whether the
 * last acknowledgement was heard.
 */
export async function readConsumer(plan: ReaderPlan, parts: ReaderParts): Promise<Reading> {
  const reading = new Reading()
  const client = connect(parts.address)
  const consumer = `reader-${plan.name.split(':')[0]}`
  let unsure: { readonly results: Received[]; readonly cursor: string } | undefined
  await eachMessage({ ...plan, consumer }, parts, {
    start: () => undefined,
    opened: (cursor) => {
      reading.streams++
      reading.first ??= cursor
      if (unsure?.cursor === cursor) reading.keep(unsure.results, cursor)
      unsure = undefined
      reading.cursor = cursor
    },
    take: async ({ results, cursor }) => {
      if (cursor !== reading.cursor) {
        unsure = { results: results.map(plain), cursor }
        await acknowledge(client, { consumer, cursor })
        reading.keep(unsure.results, cursor)
        unsure = undefined
      }
      return parts.isLast(cursor)
    },
    // retention waits for consumers: then this test fails
    expired: (earliest) => reading.lose(earliest),
  })
  client.close()
  return reading
}

function acknowledge(client: SchedulerServiceClient, request: AckResultsRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { deadline: Date.now() + ACKNOWLEDGE_MS }
    client.ackResults(request, new Metadata(), options, (error) =>
      error === null ? resolve() : reject(error),
    )
  })
}

interface MessageUse {
  /** The cursor to resume after; undefined: as the plan says. */
  readonly start: () => string | undefined
  /** A stream is open and stands here. */
  readonly opened: (cursor: string) => void
  /** Resolves to whether this was the last. */
  readonly take: (message: StreamResultsResponse) => Promise<boolean>
  /** What comes next is no longer kept; this is where the log begins. */
  readonly expired: (earliest: string) => void
}

/** Messages over as many streams as it takes: the server breaks some, the reader drops some. */
async function eachMessage(
  plan: ReaderPlan & { readonly consumer?: string },
  parts: ReaderParts,
  use: MessageUse,
): Promise<void> {
  const { address, random, since } = parts
  const client = connect(address)
  let { oversleeps } = plan
  for (;;) {
    const call = client.streamResults(requestOf(plan, use.start(), since))
    try {
      if (await readOne(call, { ...plan, oversleeps }, parts, use)) break
    } catch (error) {
      if (!(error instanceof Error && 'details' in error)) throw error
      const { code, metadata } = fromServiceError(error as ServiceError)
      if (code === 'OUT_OF_RANGE') use.expired(metadata['earliest_cursor'] ?? '')
      // else the server has gone, or stops
      else await sleep(50 + random.below(200))
    } finally {
      call.cancel()
    }
    oversleeps = false
  }
  client.close()
}

async function readOne(
  call: ClientReadableStream<StreamResultsResponse>,
  { slowMs, breaks, oversleeps }: ReaderPlan,
  { random, overtaken }: ReaderParts,
  { opened, take }: MessageUse,
): Promise<boolean> {
  call.on('error', () => {})
  let isOpen = false
  for await (const message of call as AsyncIterable<StreamResultsResponse>) {
    if (!isOpen) {
      opened(message.cursor)
      if (oversleeps) await overtaken(message.cursor)
    }
    isOpen = true
    if (slowMs > 0) await sleep(random.below(slowMs))
    // before or after it has taken what came
    if (random.below(200) < breaks) return false
    if (await take(message)) return true
    if (random.below(200) < breaks) return false
  }
  return false
}

function connect(address: string): SchedulerServiceClient {
  return new SchedulerServiceClient(address, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.initial_reconnect_backoff_ms': 100,
    'grpc.max_reconnect_backoff_ms': 500,
  })
}

function requestOf(
  { filter, includeAttempts, start, consumer = '' }: ReaderPlan & { readonly consumer?: string },
  after: string | undefined,
  since: Date,
): StreamResultsRequest {
  return {
    ...StreamResultsRequest.create(),
    filter: toFilterMessage(filter),
    includeAttempts,
    consumer,
    heartbeatInterval: { seconds: 0n, nanos: 300_000_000 },
    start:
      after !== undefined
        ? { $case: 'afterCursor', value: after }
        : start === 'since'
          ? { $case: 'since', value: toTimestamp(since, 'since') }
          : { $case: 'position', value: start === 'earliest' ? Position.EARLIEST : Position.LATEST },
  }
}

const plain = ({ sequence, taskId }: { sequence: bigint; taskId: string }): Received => ({
  sequence: Number(sequence),
  taskId,
})
