import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { credentials } from '@grpc/grpc-js'
import { createClient, type SchedulerClient } from 'punctual'
import { describe, expect, it } from 'vitest'
import {
  SchedulerServiceClient,
  StreamResultsRequest,
  type StreamResultsResponse,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { ServerProcess } from './server-process.js'

const RESULTS = 20_000
const RESULT_BYTES = 16_000
const GROWTH_LIMIT_MB = 100
/** C139 of what has gone wrong elsewhere; here with results 16 kB large. */
const SIZE_LIMIT_MB = 700
const LIMIT_MS = 600_000

describe('a reader that sleeps', () => {
  it(
    `costs the server less than ${GROWTH_LIMIT_MB} MB while 20,000 results of 16 kB come in, and misses none (C101)`,
    async () => {
      await using server = await ServerProcess.start()
      await using client = createClient({ address: server.address })
      // what the work itself takes, without any reader
      const withoutReader = await largestDuring(server, () => runAll(client, RESULTS / 2))
      const grpc = new SchedulerServiceClient(server.address, credentials.createInsecure())
      const stream = grpc.streamResults(StreamResultsRequest.create())
      const messages = (stream as AsyncIterable<StreamResultsResponse>)[Symbol.asyncIterator]()
      expect((await messages.next()).value).toMatchObject({ caughtUp: true })

      const withReader = await largestDuring(server, () => runAll(client, RESULTS))
      expect(withReader - withoutReader).toBeLessThan(GROWTH_LIMIT_MB)
      expect(withReader).toBeLessThan(SIZE_LIMIT_MB)
      expect((await client.stats()).openStreams).toBe(1)

      const sequences: number[] = []
      const whileAwake = await largestDuring(server, async () => {
        while (sequences.length < RESULTS) {
          const { value } = (await messages.next()) as { value: StreamResultsResponse }
          for (const { sequence } of value.results) sequences.push(Number(sequence))
        }
      })
      expect(whileAwake - withoutReader).toBeLessThan(GROWTH_LIMIT_MB)
      const [start = 0] = sequences
      expect(sequences).toEqual(Array.from({ length: RESULTS }, (_, index) => start + index))
      stream.cancel()
      grpc.close()
    },
    LIMIT_MS,
  )
})

async function runAll(client: SchedulerClient, count: number): Promise<void> {
  const done = async (): Promise<number> => (await client.stats()).states.succeeded ?? 0
  const before = await done()
  const text = 'x'.repeat(RESULT_BYTES - 2)
  for (let scheduled = 0; scheduled < count; scheduled += 500) {
    const answers = await client.scheduleMany(
      Array.from({ length: 500 }, () => ({ handler: 'echo', input: text })),
    )
    expect(answers.filter((answer) => answer instanceof Error)).toEqual([])
    // a server that is asked for more than it can do would hold the inputs instead
    while ((await done()) < before + scheduled - 1_000) await sleep(20)
  }
  while ((await done()) < before + count) await sleep(20)
}

/** Resident memory of the server in MB at its largest while something is done. */
async function largestDuring({ pid }: ServerProcess, work: () => Promise<void>): Promise<number> {
  let largest = 0
  const look = (): void => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    largest = Math.max(largest, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024)
  }
  const timer = setInterval(look, 50)
  await work()
  clearInterval(timer)
  look()
  return largest
}
