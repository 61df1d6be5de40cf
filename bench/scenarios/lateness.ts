import { join } from 'node:path'
import type { Lateness } from '../callers/lateness-jobs.js'
import type { Target } from '../callers/measured.js'
import type { Figure } from '../measure/figure.js'
import { figure } from '../measure/figures.js'
import { BENCH_FOLDER } from '../processes/bench-folder.js'
import { ServerProcess } from '../processes/server-process.js'
import { type Scenario, sideBySide, type World } from './scenario.js'

const TITLE = 'Lateness: start in the handler after the due time'
const HOUR = 3_600_000

/** How exact starts are: in quiet, with many waiting, and while a backlog drains. */
export const lateness: Scenario = {
  name: 'lateness',
  async run(world) {
    const { caller, scale, say } = world
    const data = join(BENCH_FOLDER, 'lateness')
    const waiting = scale.name === 'smoke' ? 1_000 : 100_000
    // evenly over ten hours: some of them fall due meanwhile, as they would
    const seconds = await caller.run('fillStore', {
      data,
      tasks: waiting,
      fromMs: HOUR / 60,
      toMs: 10 * HOUR,
    })
    say(`  ${waiting} waiting tasks stored in ${seconds.toFixed(1)} s`)
    await using server = await ServerProcess.start({ data })
    const target: Target = { address: server.address, pid: server.pid }
    await caller.run('drain', {
      target,
      tasks: scale.warmUp,
      way: { kind: 'batches', size: 256, inFlight: 4 },
    })
    return [...(await spread(world, target, waiting)), ...(await probes(world, target))]
  },
}

async function spread({ caller, scale }: World, target: Target, waiting: number): Promise<Figure[]> {
  const { seconds } = scale
  const count = 200 * seconds
  const told = await sideBySide<'own' | 'timer', Lateness>(Math.min(scale.runs, 3), {
    own: () => caller.run('spreadLateness', { target, tasks: count, seconds }),
    timer: () => caller.run('timerLateness', { timers: count, seconds }),
  })
  const name = `200 tasks/s at random moments, ${waiting.toLocaleString('en')} waiting`
  const line = (field: 'p50Ms' | 'p99Ms', label: string): Figure =>
    figure(
      {
        scenario: TITLE,
        name: `${name}: ${label}`,
        of: told.own.map((one) => one[field]),
        ceiling: { name: 'bare armed timer', of: told.timer.map((one) => one[field]) },
        also: {
          'max ms': Math.max(...told.own.map(({ maxMs }) => maxMs)),
          early: sum(told.own.map(({ early }) => early)),
        },
      },
      'ms',
    )
  return [line('p50Ms', 'p50'), line('p99Ms', 'p99')]
}

async function probes({ caller, scale }: World, target: Target): Promise<Figure[]> {
  const backlog = scale.tasks * 2
  const given = { target, backlog, probes: scale.name === 'smoke' ? 5 : 50, everyMs: 20 }
  const told = await sideBySide(Math.min(scale.runs, 3), { own: () => caller.run('probeLateness', given) })
  const also = {
    'least backlog left after the last probe': Math.min(...told.own.map(({ backlogLeft }) => backlogLeft)),
  }
  const name = 'probes of priority 10 while a backlog of priority 0 drains'
  return [
    figure({ scenario: TITLE, name: `${name}: p50`, of: told.own.map(({ p50Ms }) => p50Ms), also }, 'ms'),
    figure({ scenario: TITLE, name: `${name}: p99`, of: told.own.map(({ p99Ms }) => p99Ms), also }, 'ms'),
  ]
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
