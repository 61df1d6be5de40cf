import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type SchedulerClient, type TaskResult } from 'punctual'
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '../../server/store/task-store.js'
import { EVERYTHING } from '../store/stored-tasks.js'
import { BuiltStore } from './built-store.js'
import { Archive } from './readers/archive.js'
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
const SPAN_MS = 12_000
/** Readers that begin at a time begin at this one, after the first task. */
const SINCE_MS = 2_000
/** Entries, most of a MiB and more. */
const MANY = 1_000
const PATIENCE_MS = 120_000
const LIMIT_MS = 300_000
const READ = { stream: readStream, consumer: readConsumer, batches: readBatches, loop: readLoop } as const
const SERVER = ['--handlers', 'test/outside/readers/handlers.mjs', '--max-result-bytes', '1MiB']

describe('readers of every kind, while streams and servers break and retention removes what is old', () => {
  it(`each get exactly what the store holds for them (SEED=${SEED})`, { timeout: LIMIT_MS }, async () => {
    const random = new Random(SEED)
    await using server = await ServerProcess.start(SERVER)
    await using client = createClient({ address: server.address, deadlineMs: PATIENCE_MS })
    const archive = new Archive(client)
    const plans = Array.from({ length: READERS }, (_, index) => readerPlan(index, random))
    let last = Infinity
    const parts: Omit<ReaderParts, 'random'> = {
      address: server.address,
      since: new Date(Date.now() + SINCE_MS),
      overtaken: (cursor) => overtaken(client, cursor, () => last),
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
    await archive.end(last)
    expect(await server.stop('SIGTERM')).toBe(0)

    const { entries } = archive
    expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: last }, (_, n) => n + 1))
    const kept = await keptIn(server.data)
    expect(kept).toEqual(entries.slice(last - kept.length).map(summary))
    const wrong = plans.flatMap((plan, index) => faultsOf(plan, got[index] as Reading, entries, parts.since))
    expect(wrong).toEqual([])
    // no test of breaks without breaks, nor of retention without a loss
    expect(got.reduce((sum, { streams }) => sum + streams, 0)).toBeGreaterThan(2 * READERS)
    expect(kept.length).toBeLessThan(last)
    expect(got.flatMap(({ lost }) => lost).length).toBeGreaterThan(0)
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

/**
 * Resolves when so much of what comes after the cursor is gone that it cannot all be in some buffer, or when there will not be that much.
 *
 * @param last - The end of all, once it is known.
 */
async function overtaken(client: SchedulerClient, cursor: string, last: () => number): Promise<void> {
  for (const since = performance.now(); ; await sleep(200)) {
    const { store, consumers, findings } = await client.stats()
    const enough = positionOf(cursor) + MANY
    if (positionOf(store?.earliestCursor ?? '') > enough || last() <= enough) return
    if (performance.now() - since > PATIENCE_MS)
      throw new Error(`retention removes nothing: ${shown({ cursor, store, consumers, findings })}`)
  }
}

const shown = (facts: object): string =>
  JSON.stringify(facts, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value))

/** What is wrong with what a reader has got; nothing when it is what the store held for it. */
function faultsOf(plan: ReaderPlan, reading: Reading, entries: readonly TaskResult[], since: Date): string[] {
  const start = positionOf(reading.first ?? '')
  const wanted = entries.filter(
    (entry) => entry.sequence > start && isFor(plan, entry) && !reading.hasLost(entry.sequence),
  )
  const text = ({ sequence, taskId }: Received): string => `${sequence} ${taskId}`
  const want = wanted.map(text)
  const have = reading.received.map(text)
  const [wantedOnce, gotOnce] = [new Set(want), new Set(have)]
  const [atLeast, atMost] = startsOf(plan, entries, since)
  const isConsumer = plan.kind === 'consumer' || plan.kind === 'loop'
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
    ...(isConsumer ? first('retention did not wait for', reading.lost.map(String)) : []),
  ]
  return faults.map((fault) => `${plan.name}: ${fault}`)
}

const first = (what: string, ones: readonly string[]): string[] =>
  ones.length === 0 ? [] : [`${what}: ${ones.slice(0, 3).join(', ')} (${ones.length} in all)`]

/** Where a reader may have begun: at least, at most. */
function startsOf(
  { start, joinMs }: ReaderPlan,
  entries: readonly TaskResult[],
  since: Date,
): [number, number] {
  if (start === 'earliest') return [0, 0]
  if (start === 'latest') return [0, entries.length]
  const before = entries.filter(({ commitTime }) => (commitTime?.getTime() ?? 0) < since.getTime()).length
  // a time in the future counts as now
  return [joinMs > 2 * SINCE_MS ? before : 0, before]
}

const summary = ({ taskId, kind, run, outcome }: Pick<LogEntry, 'taskId' | 'kind' | 'run' | 'outcome'>) => ({
  taskId,
  kind,
  run,
  outcome,
})

/** The log as it stands in the files of a server that has stopped. */
async function keptIn(folder: string): Promise<unknown[]> {
  const store = new BuiltStore({ folder, now: () => Date.now(), encodeResult: () => new Uint8Array() })
  await store.open()
  const kept: unknown[] = []
  for (let { earliest: after } = await store.stats(); ; ) {
    const page = await store.readLog({ after, filter: EVERYTHING, maxEntries: 1_000, maxBytes: 10_000_000 })
    if (page.through === after) break
    kept.push(...page.entries.map(summary))
    after = page.through
  }
  await store.close()
  return kept
}
