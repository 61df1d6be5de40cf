import type { Measured, Target } from '../callers/measured.js'
import type { Way } from '../callers/drain-jobs.js'
import type { Figure } from '../measure/figure.js'
import { figure, latencyFigure, rateFigure } from '../measure/figures.js'
import { BENCH_FOLDER } from '../processes/bench-folder.js'
import { ServerProcess } from '../processes/server-process.js'
import { type Scenario, sideBySide, type World } from './scenario.js'

const TITLE = 'End to end: schedule → disk → thread → disk → a consumer has seen it'
const ECHO = 'bare gRPC echo, both ways'

/** The whole way of a task, beside each of its stages alone. */
export const drain: Scenario = {
  name: 'drain',
  async run(world) {
    await using server = await ServerProcess.start()
    const own: Target = { address: server.address, pid: server.pid }
    await world.caller.run('drain', { target: own, tasks: world.scale.warmUp, way: BATCHES })
    return [
      ...(await inBatches(world, own)),
      ...(await oneByOne(
        world,
        own,
        { kind: 'coalesced', inFlight: 64 },
        'schedule() of the SDK, 64 in flight',
      )),
      ...(await oneByOne(
        world,
        own,
        { kind: 'coalesced', inFlight: 1_000 },
        'schedule() of the SDK, 1,000 in flight',
      )),
      ...(await oneByOne(
        world,
        own,
        { kind: 'unary', inFlight: 64 },
        'unary Schedule, foreign client, 64 in flight',
      )),
      ...(await alone(world, own)),
    ]
  },
}

const BATCHES: Way = { kind: 'batches', size: 256, inFlight: 4 }

/** In batches: where the stages alone, each at its best, are the ceilings. */
async function inBatches({ caller, scale, echo }: World, own: Target): Promise<Figure[]> {
  const { tasks } = scale
  const bare: Target = { address: echo.address, pid: echo.pid }
  const told = await sideBySide(scale.runs, {
    own: () => caller.run('drain', { target: own, tasks, way: BATCHES }),
    echo: () => caller.run('drain', { target: bare, tasks, way: BATCHES }),
    store: () => caller.run('storeLives', { folder: BENCH_FOLDER, tasks, size: 256, inFlight: 4 }),
    threads: () => caller.run('threadRoundTrips', { attempts: tasks, burst: 256, slots: 2 }),
  })
  const given = { scenario: TITLE, of: told.own }
  const sum = told.echo.map((one, i) => one.serverUs + one.clientUs + us(told.store[i]) + us(told.threads[i]))
  return [
    rateFigure({
      ...given,
      name: 'ScheduleBatch of 256',
      ceiling: { name: 'the slowest stage alone', of: slowest(told) },
    }),
    rateFigure({ scenario: TITLE, name: `  stage: ${ECHO}`, of: told.echo }),
    rateFigure({ scenario: TITLE, name: '  stage: bare store, insert and end, in a thread', of: told.store }),
    rateFigure({ scenario: TITLE, name: '  stage: bare threads, bursts of 256', of: told.threads }),
    figure(
      {
        scenario: TITLE,
        name: 'CPU of server and client for each task',
        of: told.own.map(({ serverUs, clientUs }) => serverUs + clientUs),
        ceiling: { name: 'sum of the bare stages', of: sum },
      },
      'µs',
    ),
  ]
}

/** In these the process that measures is the one that works: both columns say the same. */
const us = (measured: Measured | undefined): number => measured?.serverUs ?? Number.NaN

function slowest(told: Readonly<Record<'echo' | 'store' | 'threads', readonly Measured[]>>): Measured[] {
  return told.echo.map((one, i) =>
    [told.store[i], told.threads[i]].reduce<Measured>(
      (least, other) => (other && other.perSecond < least.perSecond ? other : least),
      one,
    ),
  )
}

async function oneByOne(
  { caller, scale, echo }: World,
  own: Target,
  way: Way,
  name: string,
): Promise<Figure[]> {
  const tasks = way.kind === 'unary' ? scale.calls : scale.tasks
  const bare: Target = { address: echo.address, pid: echo.pid }
  const told = await sideBySide(scale.runs, {
    own: () => caller.run('drain', { target: own, tasks, way }),
    echo: () => caller.run('drain', { target: bare, tasks, way }),
  })
  return [rateFigure({ scenario: TITLE, name, of: told.own, ceiling: { name: ECHO, of: told.echo } })]
}

/** One task at a time, on an idle server: no batching point may make it wait. */
async function alone({ caller, scale, echo }: World, own: Target): Promise<Figure[]> {
  const tasks = Math.ceil(scale.calls / 10)
  const bare: Target = { address: echo.address, pid: echo.pid }
  const told = await sideBySide(scale.runs, {
    own: () => caller.run('roundTrips', { target: own, tasks }),
    echo: () => caller.run('roundTrips', { target: bare, tasks }),
    commit: () => caller.run('storeCommits', { folder: BENCH_FOLDER, commits: tasks }),
    thread: () => caller.run('threadRoundTrips', { attempts: tasks, burst: 1, slots: 1 }),
  })
  // two commits: the task, and its result
  const sum = (field: 'p50Ms' | 'p99Ms'): number[] =>
    told.echo.map(
      (one, i) =>
        one[field] + 2 * (told.commit[i]?.[field] ?? Number.NaN) + (told.thread[i]?.[field] ?? Number.NaN),
    )
  const p99 = sum('p99Ms')
  const of = sum('p50Ms').map((p50Ms, i) => ({ p50Ms, p99Ms: p99[i] ?? Number.NaN }))
  return [
    latencyFigure({
      scenario: TITLE,
      name: 'a task alone: Schedule, and its result on a stream',
      of: told.own,
      ceiling: { name: 'echo + two commits + one thread round trip', of },
    }),
  ]
}
