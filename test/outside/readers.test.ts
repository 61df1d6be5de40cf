import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type SchedulerClient } from 'punctual'
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '../../server/store/task-store.js'
import { EVERYTHING } from '../store/stored-tasks.js'
import { BuiltStore } from './built-store.js'
import { readBatches, readLoop } from './readers/client-readers.js'
import { type ReaderParts, readConsumer, readStream } from './readers/grpc-readers.js'
import { isFor, readerPlan, type ReaderPlan } from './readers/plan.js'
import { Random } from './readers/random.js'
import { positionOf, type Reading, type Received } from './readers/reading.js'
import { ServerProcess } from './server-process.js'

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000)
const READERS = 20
const TASKS = 2_000
/** Over which the tasks fall due. */
const SPAN_MS = 10_000
/** Readers that begin at a time begin at this one, after the first task. */
const SINCE_MS = 2_000
const PATIENCE_MS = 120_000
const LIMIT_MS = 300_000
const READ = { stream: readStream, consumer: readConsumer, batches: readBatches, loop: readLoop } as const

describe('readers of every kind, while streams and servers break', () => {
  it(`each get exactly what the store holds for them (SEED=${SEED})`, { timeout: LIMIT_MS }, async () => {
    const random = new Random(SEED)
    await using server = await ServerProcess.start(['--handlers', 'test/outside/readers/handlers.mjs'])
    await using client = createClient({ address: server.address, deadlineMs: PATIENCE_MS })
    const plans = Array.from({ length: READERS }, (_, index) => readerPlan(index, random))
    let last = Infinity
    const parts: Omit<ReaderParts, 'random'> = {
      address: server.address,
      since: new Date(Date.now() + SINCE_MS),
      isLast: (cursor) => positionOf(cursor) >= last,
    }
    const readings = plans.map(async (plan, index) => {
      await sleep(plan.joinMs)
      return READ[plan.kind](plan, { ...parts, random: new Random(SEED + index) })
    })
    const all = Promise.all(readings)
    // told below, after whatever goes wrong before
    all.catch(() => {})
    await schedule(client, random)
    await killNowAndThen(server, random)
    await untilIdle(client)
    last = positionOf((await client.stats()).store?.latestCursor ?? '')
    const got = await all
    expect(await server.stop('SIGTERM')).toBe(0)
    const stored = await entriesOf(server.data)
    expect(stored.length).toBe(last)
    const wrong = plans.flatMap((plan, index) => faultsOf(plan, got[index] as Reading, stored, parts.since))
    expect(wrong).toEqual([])
    // no test of breaks without breaks
    expect(got.reduce((sum, { streams }) => sum + streams, 0)).toBeGreaterThan(2 * READERS)
  })
})

/** Results of all outcomes: some fail once or twice and then succeed, some fail for good, some are cancelled. */
async function schedule(client: SchedulerClient, random: Random): Promise<void> {
  const task = (index: number) => ({
    ...(random.next() < 0.8
      ? {
          handler: 'work',
          input: { failures: random.pick([0, 0, 0, 1, 2, 9]), bytes: random.pick([10, 1_000, 20_000]) },
        }
      : { handler: 'pause', input: { ms: random.below(500) } }),
    id: `task-${index}`,
    delayMs: random.below(SPAN_MS),
    labels: { colour: random.pick(['red', 'blue', 'green']) },
    retry: { maxAttempts: 3, initialBackoffMs: 200 },
  })
  const answers = await client.scheduleMany(Array.from({ length: TASKS }, (_, index) => task(index)))
  expect(answers.filter((answer) => answer instanceof Error)).toEqual([])
  const some = Array.from({ length: 50 }, () => `task-${random.below(TASKS)}`)
  await client.cancelMany({ ids: some })
}

async function killNowAndThen(server: ServerProcess, random: Random): Promise<void> {
  for (const signal of ['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
    await sleep(500 + random.below(2_500))
    await server.stop(signal)
    await server.start()
  }
}

/** Resolves when every task has ended. */
async function untilIdle(client: SchedulerClient): Promise<void> {
  for (const since = performance.now(); ; ) {
    const { states, dueWaiting, findings } = await client.stats()
    if (states.scheduled === 0 && states.running === 0) return
    if (performance.now() - since > PATIENCE_MS)
      throw new Error(`tasks do not end: ${JSON.stringify({ states, dueWaiting, findings })}`)
    await sleep(50)
  }
}

/** What is wrong with what a reader has got; nothing when it is what the store holds for it. */
function faultsOf(plan: ReaderPlan, reading: Reading, stored: readonly LogEntry[], since: Date): string[] {
  const start = positionOf(reading.first ?? '')
  const wanted = stored.filter((entry) => entry.position > start && isFor(plan, entry))
  const text = ({ sequence, taskId }: Received): string => `${sequence} ${taskId}`
  const want = wanted.map(({ position, taskId }) => text({ sequence: position, taskId }))
  const have = reading.received.map(text)
  const [wantedOnce, gotOnce] = [new Set(want), new Set(have)]
  const [atLeast, atMost] = startsOf(plan, stored, since)
  const faults = [
    ...first(
      'is missing',
      want.filter((one) => !gotOnce.has(one)),
    ),
    ...first(
      'is too much',
      have.filter((one) => !wantedOnce.has(one)),
    ),
    // each has a number of its own, so whatever came twice stands where another should
    ...first(
      'came twice or out of order',
      have.filter((one, index) => want[index] !== one),
    ),
    ...(start < atLeast || start > atMost ? [`began at ${start}, not from ${atLeast} to ${atMost}`] : []),
  ]
  return faults.map((fault) => `${plan.name}: ${fault}`)
}

const first = (what: string, ones: readonly string[]): string[] =>
  ones.length === 0 ? [] : [`${what}: ${ones.slice(0, 3).join(', ')} (${ones.length} in all)`]

/** Where a reader may have begun: at least, at most. */
function startsOf({ start, joinMs }: ReaderPlan, stored: readonly LogEntry[], since: Date): [number, number] {
  if (start === 'earliest') return [0, 0]
  if (start === 'latest') return [0, stored.length]
  const before = stored.filter(({ commitTime }) => commitTime < since.getTime()).length
  // a time in the future counts as now
  return [joinMs > 2 * SINCE_MS ? before : 0, before]
}

/** The whole log, read from the files of a server that has stopped. */
async function entriesOf(folder: string): Promise<LogEntry[]> {
  const store = new BuiltStore({ folder, now: () => Date.now(), encodeResult: () => new Uint8Array() })
  await store.open()
  const entries: LogEntry[] = []
  for (let after = 0; ; ) {
    const page = await store.readLog({ after, filter: EVERYTHING, maxEntries: 1_000, maxBytes: 10_000_000 })
    if (page.through === after) break
    entries.push(...page.entries)
    after = page.through
  }
  await store.close()
  return entries
}
