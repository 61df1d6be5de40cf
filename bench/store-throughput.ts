/**
 * How many tasks a second go through the store's port, in and out: inserted, ended with an encoded result, told to a listener. Next to it, in the same rounds, a bare
 * commit: the bytes of a batch as one row, on disk. Read the ratio; rates move with the machine.
 *
 *   npm run build && npx tsx bench/store-throughput.ts [--size 256] [--seconds 2] [--rounds 5] [--starts] [--inline]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import { v7 as uuidv7 } from 'uuid'
import type { encodeResult } from '../server/rpc/result-codec.js'
import type { SqliteStore } from '../server/store/sqlite/sqlite-store.js'
import type { TaskStore } from '../server/store/task-store.js'
import { logEntry } from '../server/task/log-entry.js'
import type { Transition } from '../server/task/result.js'
import { DEFAULT_RETRY } from '../server/task/retry.js'
import type { NewTask, Task } from '../server/task/task.js'

const { values: args } = parseArgs({
  options: {
    size: { type: 'string', default: '256' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    starts: { type: 'boolean', default: false },
    inline: { type: 'boolean', default: false },
  },
})
const size = Number(args.size)
/** What one task leaves on disk, in and out, roughly. */
const BYTES_A_TASK = 550
/** Batches under way at once, so that neither side waits for the other. */
const LANES = 2

/** Of the built package: its thread starts from JavaScript. */
interface Built {
  readonly SqliteStore: typeof SqliteStore
  readonly encodeResult: typeof encodeResult
}
const BUILT = '../dist/server'
const built: Built = {
  ...((await import(`${BUILT}/store/sqlite/sqlite-store.js`)) as Pick<Built, 'SqliteStore'>),
  ...((await import(`${BUILT}/rpc/result-codec.js`)) as Pick<Built, 'encodeResult'>),
}

function newTask(): NewTask {
  const now = Date.now()
  return {
    spec: {
      id: uuidv7(),
      handler: 'echo',
      payload: { kind: 'json', text: '{"customer":"c-123456","amount":12.5}' },
      when: { kind: 'now' },
      retry: DEFAULT_RETRY,
      attemptTimeoutMs: 3_600_000,
      priority: 0,
      concurrencyKey: '',
      atMostOnce: false,
      labels: {},
      traceparent: '',
      tracestate: '',
      origin: 'client-0123456789',
      rememberIdForMs: 600_000,
    },
    state: 'scheduled',
    run: 1,
    attempts: 0,
    interruptions: 0,
    soloDeaths: 0,
    suspicions: 0,
    dueTime: now,
    notBefore: now,
    createTime: now,
    startTimeUs: 0,
    startId: 0,
    paused: false,
    cancelRequested: false,
    manual: false,
    requestId: '',
    endTime: 0,
  }
}

let startId = 1
const startOf = (task: Task): Task => ({
  ...task,
  state: 'running',
  startId: startId++,
  startTimeUs: Date.now() * 1_000,
  attempts: 1,
})

function endOf(task: Task): Transition {
  const ended: Task = { ...task, state: 'succeeded', endTime: Date.now() }
  const facts = {
    outcome: 'succeeded',
    output: { kind: 'json', text: '{"ok":true}' },
    startTimeUs: task.startTimeUs,
    endTimeUs: task.startTimeUs + 50,
    workerId: 'thread-1',
    last: true,
  } as const
  return { task: ended, entries: [logEntry('result', ended, facts)] }
}

interface Round {
  readonly rate: number
  /** Microseconds of processor time a task, in all threads. */
  readonly cpu: number
}

async function measured(ms: number, run: (isOver: () => boolean) => Promise<number>): Promise<Round> {
  const began = performance.now()
  const cpu = process.cpuUsage()
  const tasks = await run(() => performance.now() - began > ms)
  const { user, system } = process.cpuUsage(cpu)
  return { rate: (tasks / (performance.now() - began)) * 1_000, cpu: (user + system) / tasks }
}

/** Each lane inserts a batch while it ends the one before. */
async function throughStore(store: TaskStore, isOver: () => boolean): Promise<number> {
  let tasks = 0
  const lane = async (): Promise<void> => {
    let running: Task[] = []
    while (!isOver() || running.length > 0) {
      const batch = isOver() ? [] : Array.from({ length: size }, () => ({ task: newTask(), near: true }))
      const [inserted] = await Promise.all([store.insert(batch), store.update(running.map(endOf))])
      tasks += running.length
      running = inserted.map(({ task }) => startOf(task))
      if (args.starts) void store.start(running)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return tasks
}

/** The same objects made, and nothing done with them: what the measuring itself costs. */
async function withoutStore(isOver: () => boolean): Promise<number> {
  let tasks = 0
  for (; !isOver(); tasks += size)
    for (let i = 0; i < size; i++)
      built.encodeResult(endOf(startOf({ ...newTask(), arrival: i })).entries[0] as never)
  return tasks
}

function bareCommits(folder: string): (isOver: () => boolean) => Promise<number> {
  const db = new DatabaseSync(join(folder, 'bare.db'))
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; CREATE TABLE t (body BLOB)',
  )
  const insert = db.prepare('INSERT INTO t VALUES (?)')
  const body = Buffer.alloc(size * BYTES_A_TASK, 7)
  return async (isOver) => {
    let tasks = 0
    // a statement does not keep its connection alive
    for (; db.isOpen && !isOver(); tasks += size) insert.run(body)
    return tasks
  }
}

const folder = mkdtempSync(join(tmpdir(), 'store-throughput-'))
const store = new built.SqliteStore({
  folder,
  now: () => Date.now(),
  encodeResult: built.encodeResult,
  runIn: args.inline ? 'inline' : 'thread',
})
await store.open()
store.onLog(() => {})
const cases: Record<string, (isOver: () => boolean) => Promise<number>> = {
  'bare commit': bareCommits(folder),
  'no store': withoutStore,
  store: (isOver) => throughStore(store, isOver),
}
const rounds: Record<string, Round[]> = {}
for (let round = -1; round < Number(args.rounds); round++)
  for (const [name, run] of Object.entries(cases)) {
    const result = await measured(round < 0 ? 500 : Number(args.seconds) * 1_000, run)
    if (round >= 0) (rounds[name] ??= []).push(result)
  }
await store.close()
rmSync(folder, { recursive: true })

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1] ?? 0
const rate = (name: string): number => median((rounds[name] ?? []).map((it) => it.rate))
const cpu = (name: string): number => median((rounds[name] ?? []).map((it) => it.cpu))
console.log(
  `${size} a batch, ${args.inline ? 'inline' : 'in its thread'}${args.starts ? ', starts noted' : ''}; medians of ${args.rounds} rounds`,
)
console.log(
  `bare commit  ${(rate('bare commit') / 1_000).toFixed(1)}k tasks/s, ${cpu('bare commit').toFixed(1)} µs CPU a task`,
)
console.log(
  `store        ${(rate('store') / 1_000).toFixed(1)}k tasks/s, ${(cpu('store') - cpu('no store')).toFixed(1)} µs CPU a task without the ${cpu('no store').toFixed(1)} µs of making it`,
)
console.log(`ratio        ${(rate('store') / rate('bare commit')).toFixed(2)} of a bare commit's rate`)
