/**
 * Attempts per second through the thread executor, in bursts of 1 to 256, beside a bare worker that echoes as many plain objects a message, in the same run.
 *
 *   node --import tsx bench/executor-throughput/run.ts [seconds each, default 2]
 */
import { cpus } from 'node:os'
import { Worker } from 'node:worker_threads'
import Table from 'cli-table3'
import type { AttemptRequest } from '../../server/executor/executor.js'
import { ThreadExecutor } from '../../server/executor/thread-executor.js'
import { createCatalogue } from '../../server/handlers/handler-catalogue.js'
import { loadHandlers } from '../../server/handlers/load-handlers.js'

const SECONDS = Number(process.argv[2] ?? 2)
const THREADS = 2
const WARM_UP = 200

interface Rate {
  readonly perSecond: number
  /** Microseconds of CPU, all threads together. */
  readonly cpu: number
  /** Share of the time that the main thread was busy. */
  readonly mainBusy: number
}

/** Sends bursts for `SECONDS`, one under way for each thread. @param send - Sends burst number `index` to `thread` and resolves when its answer is there. */
async function rate(size: number, send: (thread: number, index: number) => Promise<void>): Promise<Rate> {
  const threads = Array.from({ length: THREADS }, (_, thread) => thread)
  let index = 0
  await Promise.all(
    threads.map(async (thread) => {
      for (let burst = 0; burst < WARM_UP; burst++) await send(thread, index++)
    }),
  )
  const cpu = process.cpuUsage()
  const loop = performance.eventLoopUtilization()
  const from = performance.now()
  const until = from + SECONDS * 1_000
  let bursts = 0
  await Promise.all(
    threads.map(async (thread) => {
      while (performance.now() < until) {
        await send(thread, index++)
        bursts++
      }
    }),
  )
  const { user, system } = process.cpuUsage(cpu)
  const attempts = bursts * size
  return {
    perSecond: (attempts / (performance.now() - from)) * 1_000,
    cpu: (user + system) / attempts,
    mainBusy: performance.eventLoopUtilization(loop).utilization,
  }
}

function request(startId: number, handler: string): AttemptRequest {
  return {
    startId,
    taskId: `019371f0-5a3c-7000-8000-${String(startId).padStart(12, '0')}`,
    handler,
    run: 1,
    attempt: 1,
    payload: {
      kind: 'json',
      text: '{"n":30,"note":"a payload of about a hundred bytes, as they are in many a system today"}',
    },
    timeoutMs: 3_600_000,
    dueTime: 1_800_000_000_000,
    notBefore: 1_800_000_000_000,
    createTime: 1_800_000_000_000,
    labels: {},
    traceparent: '',
    tracestate: '',
    alone: false,
  }
}

async function executorRate(size: number, handler: string): Promise<Rate> {
  const modules = [new URL('./handlers.ts', import.meta.url).href]
  const catalogue = createCatalogue(await loadHandlers(modules))
  const executor = new ThreadExecutor({ catalogue, modules, threadSlots: THREADS })
  const open = new Map<number, { left: number; resolve(): void }>()
  executor.listen({
    began() {},
    ended(ends) {
      for (const { startId, outcome } of ends) {
        if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
        const index = Math.floor(startId / size)
        const burst = open.get(index)
        if (burst === undefined || --burst.left > 0) continue
        open.delete(index)
        burst.resolve()
      }
    },
    returned() {},
    released() {},
  })
  await executor.ready()
  const measured = await rate(
    size,
    (_, index) =>
      new Promise((resolve) => {
        open.set(index, { left: size, resolve })
        executor.start(
          'thread',
          Array.from({ length: size }, (__, member) => request(index * size + member, handler)),
        )
      }),
  )
  await executor.close()
  return measured
}

async function echoRate(size: number): Promise<Rate> {
  const code = `const { parentPort } = require('node:worker_threads'); parentPort.on('message', (m) => parentPort.postMessage(m))`
  const workers = Array.from({ length: THREADS }, () => new Worker(code, { eval: true }))
  const measured = await rate(
    size,
    (thread, index) =>
      new Promise((resolve) => {
        workers[thread]?.once('message', () => resolve())
        workers[thread]?.postMessage(
          Array.from({ length: size }, (_, member) => request(index * size + member, 'echo')),
        )
      }),
  )
  await Promise.all(workers.map((worker) => worker.terminate()))
  return measured
}

const table = new Table({
  head: ['burst', 'handler', 'attempts/s', 'CPU µs', 'main busy', 'x bare echo'],
  style: { head: [], border: [], compact: true },
  colAligns: ['right', 'left', 'right', 'right', 'right', 'right'],
})
for (const size of [1, 16, 64, 256]) {
  const echo = await echoRate(size)
  const row = (name: string, measured: Rate): string[] => [
    String(size),
    name,
    Math.round(measured.perSecond).toLocaleString('en'),
    measured.cpu.toFixed(2),
    `${Math.round(measured.mainBusy * 100)} %`,
    (measured.perSecond / echo.perSecond).toFixed(2),
  ]
  table.push(row('(bare echo)', echo))
  for (const handler of ['nothing', 'echo', 'soon'])
    table.push(row(handler, await executorRate(size, handler)))
}
console.log(`${THREADS} threads, ${cpus().length} cores, Node ${process.version}`)
console.log(table.toString())
