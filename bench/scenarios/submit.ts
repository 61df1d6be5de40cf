import type { Target } from '../callers/measured.js'
import type { Figure } from '../measure/figure.js'
import { latencyFigure, rateFigure, serverCostFigure } from '../measure/figures.js'
import { BENCH_FOLDER } from '../processes/bench-folder.js'
import { ServerProcess } from '../processes/server-process.js'
import { type Scenario, sideBySide, type World } from './scenario.js'

const TITLE = 'Submit: tasks that are due in an hour, acknowledged when they are on disk'
const HOUR = 3_600_000
const ECHO = 'bare gRPC echo of the same messages'

/** What an acknowledgement costs, by every way there is. */
export const submit: Scenario = {
  name: 'submit',
  async run(world) {
    await using server = await ServerProcess.start()
    const targets = { own: server as Target, echo: world.echo as Target }
    return [
      ...(await one(world, targets)),
      ...(await unary(world, targets)),
      ...(await coalesced(world, targets, 64)),
      ...(await coalesced(world, targets, 1_000)),
      ...(await batches(world, targets)),
    ]
  },
}

interface Targets {
  readonly own: Target
  readonly echo: Target
}

const plain = ({ address, pid }: Target): Target => ({ address, pid })

/** Alone: the durable acknowledgement beside what it consists of. */
async function one({ caller, scale }: World, { own, echo }: Targets): Promise<Figure[]> {
  const tasks = Math.ceil(scale.calls / 4)
  const call = (target: Target) => () =>
    caller.run('submitUnary', { target: plain(target), tasks, inFlight: 1, dueInMs: HOUR })
  const told = await sideBySide(scale.runs, {
    own: call(own),
    echo: call(echo),
    commit: () => caller.run('storeCommits', { folder: BENCH_FOLDER, commits: tasks }),
  })
  const sum = told.echo.map(({ p50Ms, p99Ms }, i) => ({
    p50Ms: p50Ms + (told.commit[i]?.p50Ms ?? Number.NaN),
    p99Ms: p99Ms + (told.commit[i]?.p99Ms ?? Number.NaN),
  }))
  const ceiling = { name: 'echo + bare commit', of: sum }
  return [
    latencyFigure({ scenario: TITLE, name: 'one unary Schedule at a time, idle', of: told.own, ceiling }),
  ]
}

async function unary({ caller, scale }: World, { own, echo }: Targets): Promise<Figure[]> {
  const call = (target: Target) => () =>
    caller.run('submitUnary', { target: plain(target), tasks: scale.calls, inFlight: 64, dueInMs: HOUR })
  const told = await sideBySide(scale.runs, { own: call(own), echo: call(echo) })
  const given = { scenario: TITLE, of: told.own, ceiling: { name: ECHO, of: told.echo } }
  return [
    rateFigure({ ...given, name: 'unary Schedule, foreign client, 64 in flight' }),
    serverCostFigure({ ...given, name: 'the same: CPU of the server' }),
  ]
}

async function coalesced(
  { caller, scale }: World,
  { own, echo }: Targets,
  inFlight: number,
): Promise<Figure[]> {
  const call = (target: Target) => () =>
    caller.run('submitCoalesced', { target: plain(target), tasks: scale.tasks, inFlight, dueInMs: HOUR })
  const told = await sideBySide(scale.runs, { own: call(own), echo: call(echo) })
  const name = `schedule() of the SDK, ${inFlight.toLocaleString('en')} in flight`
  return [rateFigure({ scenario: TITLE, name, of: told.own, ceiling: { name: ECHO, of: told.echo } })]
}

async function batches({ caller, scale }: World, { own, echo }: Targets): Promise<Figure[]> {
  const size = 256
  const call = (target: Target) => () =>
    caller.run('submitBatches', {
      target: plain(target),
      tasks: scale.tasks,
      size,
      inFlight: 4,
      dueInMs: HOUR,
    })
  const told = await sideBySide(scale.runs, { own: call(own), echo: call(echo) })
  const given = { scenario: TITLE, of: told.own, ceiling: { name: ECHO, of: told.echo } }
  return [rateFigure({ ...given, name: 'ScheduleBatch of 256, 4 in flight' })]
}
