import { PRESETS, type PresetName } from '../../server/scheduler/presets.js'
import { SchedulerWorld } from '../../test/support/scheduler-world.js'
import { quantile } from '../measure/spread.js'

/** What a scheduler does, counted on the virtual clock: exact, the same in every run and on every machine. */
export interface Behaviour {
  readonly idleWakesPerMinute: number
  readonly lateMs: { readonly p50: number; readonly p99: number; readonly most: number }
  /** Most attempts at once when everything is due at once. */
  readonly atOnce: { readonly thread: number; readonly shared: number; readonly inAll: number }
  /** Until all of that was done. */
  readonly allDoneMs: number
}

const SLOTS = { thread: 4, shared: 2_000 }
const LATENESS_TASKS = 500
const BURST = { thread: 20, shared: 1_200 }
const WORK_MS = 1_000
const STEP_MS = 100

/** Has a scheduler idle, then deal with single tasks, then with very many at once. */
export async function behaviourOf(name: PresetName): Promise<Behaviour> {
  return {
    idleWakesPerMinute: await idleWakes(name),
    lateMs: await lateness(name),
    ...(await concurrency(name)),
  }
}

function world(name: PresetName, workMs: number): SchedulerWorld {
  return new SchedulerWorld({
    slots: SLOTS,
    handlers: { work: (_, { sleep }) => sleep(workMs), wait: (_, { sleep }) => sleep(workMs) },
    handlerInfo: { wait: { lane: 'shared' } },
    scheduler: { preset: PRESETS[name] },
  })
}

async function idleWakes(name: PresetName): Promise<number> {
  const idle = world(name, 0)
  const { clock } = idle
  const setAlarm = clock.setAlarm.bind(clock)
  let rung = 0
  clock.setAlarm = (at, fn) =>
    setAlarm(at, () => {
      rung++
      fn()
    })
  await idle.start()
  await idle.schedule({ when: { kind: 'after', delayMs: 3_600_000 } })
  await clock.advance(1_000)
  const before = rung
  await clock.advance(60_000)
  return rung - before
}

/** Tasks one after another, at times that are no multiples of a tick; a slot is always free. */
async function lateness(name: PresetName): Promise<Behaviour['lateMs']> {
  const single = world(name, 0)
  await single.start()
  const given = Array.from({ length: LATENESS_TASKS }, (_, i) => ({
    when: { kind: 'after' as const, delayMs: 10 + i * 37 },
  }))
  const due = new Map((await single.scheduleAll(given)).map(({ spec, dueTime }) => [spec.id, dueTime]))
  await single.clock.advance(LATENESS_TASKS * 37 + 1_000)
  const late = single.starts.map(({ id, at }) => at - (due.get(id) ?? Number.NaN)).toSorted((a, b) => a - b)
  return { p50: quantile(late, 0.5), p99: quantile(late, 0.99), most: quantile(late, 1) }
}

async function concurrency(name: PresetName): Promise<Pick<Behaviour, 'atOnce' | 'allDoneMs'>> {
  const busy = world(name, WORK_MS)
  await busy.start()
  const tasks = [
    ...Array.from({ length: BURST.thread }, () => ({})),
    ...Array.from({ length: BURST.shared }, () => ({ handler: 'wait' })),
  ]
  const begin = busy.clock.now()
  await busy.scheduleAll(tasks)
  let most = { thread: 0, shared: 0, inAll: 0 }
  while (busy.disk.results.length < tasks.length) {
    const [thread = 0, shared = 0] = busy.scheduler.snapshot().lanes.map((lane) => lane.busy)
    most = {
      thread: Math.max(most.thread, thread),
      shared: Math.max(most.shared, shared),
      inAll: Math.max(most.inAll, thread + shared),
    }
    await busy.clock.advance(STEP_MS)
  }
  return { atOnce: most, allDoneMs: busy.clock.now() - begin }
}
