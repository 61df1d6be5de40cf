/**
 * How to give attempts to threads: piscina's `atomics` modes with a task for each burst, and one task for the life of a thread with a line of its own. All
 * cases take turns, so that a busy machine is busy for each.
 *
 *   node --import tsx bench/piscina-settings/run.ts [rounds, default 5]
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import Table from 'cli-table3'
import { Piscina } from 'piscina'
import { AttemptLedger } from '../../server/executor/attempt-ledger.js'
import { typeScriptLoader } from '../../server/executor/worker-entry.js'
import type { Attempt, Line } from './worker.js'

const ROUNDS = Number(process.argv[2] ?? 5)
const ROUND_MS = 400
const THREADS = 2
const MODES = ['sync', 'async', 'disabled'] as const
const SIZES = [1, 16, 64, 256]
const filename = new URL('./worker.ts', import.meta.url).href

interface Case {
  readonly name: string
  /** Sends a burst to a thread; resolves with its answer. */
  readonly send: (thread: number, burst: readonly Attempt[]) => Promise<unknown>
  readonly pool: Piscina
}

function attempt(startId: number): Attempt {
  return {
    startId,
    taskId: `019371f0-5a3c-7000-8000-${String(startId).padStart(12, '0')}`,
    handler: 'fibonacci',
    run: 1,
    attempt: 1,
    dueTime: 1_800_000_000_000,
    text: '{"n":30}',
  }
}

function poolOf(atomics: (typeof MODES)[number]): Piscina {
  return new Piscina({
    minThreads: THREADS,
    maxThreads: THREADS,
    atomics,
    recordTiming: false,
    filename,
    execArgv: ['--import', typeScriptLoader() ?? 'tsx'],
  })
}

function taskEach(atomics: (typeof MODES)[number]): Case {
  const pool = poolOf(atomics)
  return {
    name: `a piscina task for each burst, atomics ${atomics}`,
    pool,
    send: (_, burst) => pool.run(burst, { name: 'runBurst' }),
  }
}

/** A task for the life of each thread, and a line to it. @param shared - Flat lists there, outcomes through shared memory back; else objects both ways. */
function lineEach(name: string, shared: boolean): Case {
  const pool = poolOf('disabled')
  const lines = Array.from({ length: THREADS }, () => {
    const { port1, port2 } = new MessageChannel()
    const waiting: ((answer: unknown) => void)[] = []
    port1.on('message', (answer) => waiting.shift()?.(answer))
    const memory = shared ? AttemptLedger.memoryFor(Math.max(...SIZES)) : undefined
    const start: Line = { port: port2, memory }
    pool.run(start, { name: 'runSession', transferList: [port2] }).catch(() => {})
    return { port: port1, waiting, ledger: memory && new AttemptLedger(memory) }
  })
  const send: Case['send'] = (thread, burst) =>
    new Promise((resolve) => {
      const { port, waiting, ledger } = lines[thread] ?? lines[0] ?? impossible()
      waiting.push((answer) => resolve(ledger === undefined ? answer : outcomes(burst, ledger)))
      port.postMessage(ledger === undefined ? burst : flat(burst, ledger))
    })
  return { name, pool, send }
}

function flat(burst: readonly Attempt[], ledger: AttemptLedger): unknown[] {
  const list: unknown[] = []
  burst.forEach((one, index) => {
    list.push(index + 1, ledger.arm(index + 1), ...(Object.values(one) as unknown[]))
  })
  return list
}

function outcomes(burst: readonly Attempt[], ledger: AttemptLedger): object[] {
  return burst.map(({ startId }, index) => ({
    startId,
    kind: 'succeeded',
    text: ledger.output(index + 1),
    start: ledger.startTimeUs(index + 1),
    end: ledger.endTimeUs(index + 1),
  }))
}

function impossible(): never {
  throw new Error('there are no threads')
}

/** Microseconds of CPU for an attempt, all threads together: a busy machine changes it far less than the rate. */
async function cpuEach({ send }: Case, size: number): Promise<number> {
  const before = process.cpuUsage()
  const from = performance.now()
  let done = 0
  await Promise.all(
    Array.from({ length: THREADS }, async (_, thread) => {
      while (performance.now() - from < ROUND_MS) {
        await send(
          thread,
          Array.from({ length: size }, (__, member) => attempt(done + member)),
        )
        done += size
      }
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return (user + system) / done
}

/** Microseconds there and back, when nothing else is under way. */
async function idleLatency({ send }: Case): Promise<number> {
  const taken: number[] = []
  for (let time = 0; time < 60; time++) {
    await sleep(3)
    const from = performance.now()
    await send(0, [attempt(time)])
    taken.push(performance.now() - from)
  }
  return median(taken) * 1_000
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

const cases = [
  ...MODES.map(taskEach),
  lineEach('a line to each thread, objects', false),
  lineEach('a line to each thread, flat lists and shared memory', true),
]
const measured = new Map(cases.map(({ name }) => [name, [...SIZES, 0].map(() => [] as number[])]))
for (let round = 0; round <= ROUNDS; round++) {
  for (const one of cases) {
    const figures = [...(await inTurn(SIZES, (size) => cpuEach(one, size))), await idleLatency(one)]
    // the first round warms up
    if (round > 0) figures.forEach((figure, index) => measured.get(one.name)?.[index]?.push(figure))
  }
}
const table = new Table({
  head: ['', ...SIZES.map((size) => `burst ${size}`), 'alone, µs there and back'],
  colAligns: ['left', 'right', 'right', 'right', 'right', 'right'],
  style: { head: [], border: [], compact: true },
})
for (const [name, figures] of measured)
  table.push([name, ...figures.map((values, index) => median(values).toFixed(index < SIZES.length ? 1 : 0))])
console.log(
  `CPU µs for an attempt, ${THREADS} threads, Node ${process.version}, medians of ${ROUNDS} rounds in turn`,
)
console.log(table.toString())

for (const mode of MODES) {
  const pool = poolOf(mode)
  await pool.run(undefined, { name: 'countTicks' })
  await sleep(200)
  const counts = await Promise.all(
    [1, 2, 3, 4].map(() => pool.run(undefined, { name: 'countTicks' }) as Promise<number>),
  )
  console.log(`${mode}: a timer of 5 ms fired ${Math.max(...counts)} times in 200 ms without a task`)
  await pool.destroy()
}
await Promise.all(cases.map(({ pool }) => pool.destroy()))

async function inTurn<T, R>(things: readonly T[], work: (thing: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const thing of things) results.push(await work(thing))
  return results
}
