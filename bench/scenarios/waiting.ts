import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Way } from '../callers/drain-jobs.js'
import type { Target } from '../callers/measured.js'
import type { Figure } from '../measure/figure.js'
import { figure, rateFigure } from '../measure/figures.js'
import { costBetween, processCost, residentBytes } from '../measure/process-cost.js'
import { BENCH_FOLDER } from '../processes/bench-folder.js'
import { ServerProcess } from '../processes/server-process.js'
import { type Scenario, sideBySide, type World } from './scenario.js'

const TITLE = 'Many waiting: start-up, memory, an idle server, and what a task costs beside them'
const HOUR = 3_600_000
const MB = 1_000_000
/** As many as a server takes when it is not told otherwise. */
const MOST_WAITING = 10_000_000
const BATCHES: Way = { kind: 'batches', size: 256, inFlight: 4 }
/** Until what a start leaves behind is done. */
const SETTLE_MS = 3_000
/** V8 goes on to tidy each thread's heap for some 15 s after its last work: no cost of being idle. */
const V8_TIDIES_MS = 25_000

/** What the number of waiting tasks does to everything else. */
export const waiting: Scenario = {
  name: 'waiting',
  async run(world) {
    const figures: Figure[] = []
    const empty = await ServerProcess.start()
    await sleep(SETTLE_MS)
    const emptyBytes = residentBytes(empty.pid)
    const emptyStartMs = empty.startMs
    await empty.stop()
    for (const count of world.scale.waiting)
      figures.push(...(await withWaiting(world, count, { emptyBytes, emptyStartMs })))
    return [...figures, ...growth(figures)]
  },
}

interface Empty {
  readonly emptyBytes: number
  readonly emptyStartMs: number
}

async function withWaiting(
  world: World,
  count: number,
  { emptyBytes, emptyStartMs }: Empty,
): Promise<Figure[]> {
  const { caller, scale, say } = world
  const data = join(BENCH_FOLDER, `waiting-${count}`)
  // due from two hours on: none of them becomes near while this runs
  const seconds = await caller.run('fillStore', { data, tasks: count, fromMs: 2 * HOUR, toMs: 24 * HOUR })
  const name = `${count.toLocaleString('en')} waiting`
  say(`  ${name}: stored in ${seconds.toFixed(1)} s`)
  const startMs: number[] = []
  for (let i = 0; i < Math.min(3, scale.runs); i++) {
    const server = await ServerProcess.start({ data })
    startMs.push(server.startMs)
    await server.stop()
  }
  const server = await ServerProcess.start({ data, args: ['--max-waiting-tasks', String(2 * MOST_WAITING)] })
  try {
    await sleep(SETTLE_MS)
    const megabytes = residentBytes(server.pid) / MB
    if (scale.name !== 'smoke') await sleep(V8_TIDIES_MS)
    const before = processCost(server.pid)
    await sleep(scale.seconds * 1_000)
    const idle = costBetween(before, processCost(server.pid))
    const target: Target = { address: server.address, pid: server.pid }
    await caller.run('drain', { target, tasks: scale.warmUp, way: BATCHES })
    const { drained } = await sideBySide(Math.min(scale.runs, 3), {
      drained: () => caller.run('drain', { target, tasks: scale.tasks, way: BATCHES }),
    })
    const line = (what: string, value: number, unit: string): Figure =>
      figure({ scenario: TITLE, name: `${name}: ${what}`, of: [value] }, unit)
    return [
      figure(
        {
          scenario: TITLE,
          name: `${name}: start until it serves`,
          of: startMs,
          ceiling: { name: 'an empty store', of: startMs.map(() => emptyStartMs) },
        },
        'ms',
      ),
      {
        ...line('memory of the whole server (RSS)', megabytes, 'MB'),
        also: { 'MB of an empty server': emptyBytes / MB },
      },
      line('CPU of an idle server', idle.cpuUs / 1e4 / scale.seconds, '% of a core'),
      line('wake-ups of an idle server', idle.wakeUps / scale.seconds, 'a second'),
      {
        ...rateFigure({ scenario: TITLE, name: `${name}: drain of others`, of: drained }),
        also: { waiting: count, 'MB afterwards': residentBytes(server.pid) / MB },
      },
    ]
  } finally {
    await server.stop()
    rmSync(data, { recursive: true })
  }
}

/** CPU of a task with most waiting, against that with fewest. */
function growth(figures: readonly Figure[]): Figure[] {
  const drains = figures.filter(({ also }) => also?.['waiting'] !== undefined)
  const [first] = drains
  const last = drains.at(-1)
  if (!first?.serverUs || !last?.serverUs || first === last) return []
  return [
    figure(
      {
        scenario: TITLE,
        name: `server CPU a task: ${last.also?.['waiting']} waiting against ${first.also?.['waiting']}`,
        of: [last.serverUs.median],
        ceiling: { name: 'with the fewest', of: [first.serverUs.median] },
      },
      'µs',
    ),
  ]
}
