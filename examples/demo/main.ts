/**
 * `npm run demo`: the first article's program on a real server. Ten tasks at random moments, one of which fails; what becomes of them, live; the
 * figures of it; and one task's way through it all as a trace.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'punctual'
import { DemoServer } from './demo-server.js'
import type { handlers } from './handlers.js'
import { createLiveView } from './live-view.js'
import { demoOptions, USAGE } from './options.js'
import { startOtlpReceiver } from './otlp-receiver.js'
import { collectOwnSpans } from './span-collector.js'
import { summarise } from './summary.js'
import { summaryTable } from './summary-table.js'
import { TaskBoard } from './task-board.js'
import type { TaskRow } from './task-row.js'
import { type Span, traceTree } from './trace-tree.js'

const REFRESH_MS = 100
const DIFFERENT_NS = 10
const FAILING_N = 4

const options = demoOptions(process.argv.slice(2))
if (options.help) console.log(USAGE)
else await demo()

async function demo(): Promise<void> {
  // an exit also ends the server, also one that is just starting
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const serverSpans: Span[] = []
  const receiver = await startOtlpReceiver((spans) => serverSpans.push(...spans))
  const ownSpans = collectOwnSpans('demo')
  console.log('Starting a server ...')
  const server = await DemoServer.start(receiver.endpoint)

  console.log(`It listens at ${server.address}; its data is in ${server.dataFolder}.\n`)
  const rows = await runTasks(server.address)
  await server.stop()
  receiver.close()

  printSummary(rows)
  printTree(rows, [...ownSpans(), ...serverSpans])
  if (rows.some(({ n, state }) => (state === 'failed') !== (n === FAILING_N))) {
    console.error('\nSomething ended otherwise than it should have.')
    process.exitCode = 1
  }
}

async function runTasks(address: string): Promise<readonly TaskRow[]> {
  const client = createClient<typeof handlers>({ address })
  const board = new TaskBoard()
  const view = createLiveView(process.stdout)
  try {
    const start = Date.now()
    const tasks = []
    for (let index = 0; index < options.tasks; index++) {
      const n = index % DIFFERENT_NS
      const dueTime = new Date(start + Math.random() * options.spanMs)
      const task = await client.schedule('fibonacci', { n }, { dueTime })
      board.add(task.id, n, dueTime.getTime())
      tasks.push(task)
    }
    const ended = Promise.all(tasks.map(async (task) => board.end(await task.ended())))
    while (board.hasLive) {
      for await (const task of client.list({ states: ['running'] })) board.run(task.id)
      view.show(board.rows, Date.now())
      await Promise.race([ended, sleep(REFRESH_MS)])
    }
    view.show(board.rows, Date.now())
    return board.rows
  } finally {
    view.done()
    await client.close()
  }
}

function printSummary(rows: readonly TaskRow[]): void {
  const failed = rows.filter((row) => row.state === 'failed').length
  const why = failed === 0 ? '' : ` (n = ${FAILING_N}, on purpose)`
  console.log(`\n${rows.length} tasks: ${rows.length - failed} succeeded, ${failed} failed${why}\n`)
  const ends = rows.flatMap((row) => row.end ?? [])
  const duration = summarise(ends.map((end) => end.durationMs))
  const lateness = summarise(ends.map((end) => end.latenessMs))
  if (duration && lateness) console.log(summaryTable({ duration, lateness }))
}

/** The task that was due first. */
function printTree(rows: readonly TaskRow[], spans: readonly Span[]): void {
  const row = rows.find(({ end }) => end?.traceId)
  if (row === undefined) return
  console.log(`\nThe trace of fibonacci(${row.n}), from the caller to the worker's thread:\n`)
  console.log(traceTree(spans.filter((span) => span.traceId === row.end?.traceId)).join('\n'))
}
