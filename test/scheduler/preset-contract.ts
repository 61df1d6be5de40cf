import { describe, expect, it } from 'vitest'
import { PRESETS, type PresetName } from '../../server/scheduler/presets.js'
import { completeRecurrence } from '../../server/task/recurrence/validate-recurrence.js'
import type { TaskSpec } from '../../server/task/task-spec.js'
import { SchedulerWorld, taskOf, type WorldOptions } from '../support/scheduler-world.js'
import type { GivenSpec } from '../support/task-specs.js'

/** What a design can keep. */
export interface Promises {
  /** How late a start may be while a slot is free. */
  readonly lateMs: number
  /** Attempts at once on an executor of 4 threads and 1,100 shared slots. */
  readonly thread: number
  readonly shared: number
  readonly atOnce: number
  /** Times that it wakes in a minute in which nothing is due. */
  readonly idleWakes: number
}

const after = (delayMs: number): GivenSpec => ({ when: { kind: 'after', delayMs } })
const SLOTS = { thread: 4, shared: 1_100 }

/** One suite for every scheduler: the same tasks, each held to its own promises. */
export function presetContract(name: PresetName, promises: Promises): void {
  const { lateMs, thread, shared, atOnce, idleWakes } = promises

  const options = (workMs = 0): WorldOptions => ({
    slots: SLOTS,
    handlers: { work: (_, { sleep }) => sleep(workMs), wait: (_, { sleep }) => sleep(workMs) },
    handlerInfo: { wait: { lane: 'shared' } },
    scheduler: { preset: PRESETS[name] },
  })
  const start = (workMs?: number): Promise<SchedulerWorld> => SchedulerWorld.start(options(workMs))
  const lateness = (world: SchedulerWorld, { id }: TaskSpec): number =>
    (world.startsOf(id)[0]?.at ?? Infinity) - world.task(id).dueTime

  describe(`the scheduler ${name}`, () => {
    it(`starts nothing early, and at most ${lateMs} ms late while a slot is free`, async () => {
      const world = await start()
      const tasks = await world.scheduleAll(Array.from({ length: 50 }, (_, i) => after(1 + i * 37)))
      await world.clock.advance(5_000)
      const late = tasks.map(({ spec }) => lateness(world, spec))
      expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
      expect(Math.max(...late)).toBeLessThanOrEqual(lateMs)
    })

    it('starts each task once, in order of due time, priority and arrival', async () => {
      const world = await start(10)
      const [c, d, b, a, e] = await world.scheduleAll([
        after(5),
        after(5),
        { ...after(5), priority: 1 },
        { ...after(5), priority: 2 },
        after(6),
      ])
      await world.clock.advance(5_000)
      expect(world.starts.map(({ id }) => id)).toEqual([a, b, c, d, e].map((task) => task?.spec.id))
    })

    it(`runs at most ${thread} threads and ${shared} shared attempts at once, ${atOnce} in all, and every task in the end`, async () => {
      const world = await start(1_000)
      const tasks = [
        ...Array.from({ length: 8 }, () => ({})),
        ...Array.from({ length: shared + 50 }, () => ({ handler: 'wait' })),
      ]
      await world.scheduleAll(tasks)
      let most = { thread: 0, shared: 0, atOnce: 0 }
      while (world.disk.results.length < tasks.length && world.clock.steady() < 3_600_000) {
        await world.clock.advance(500)
        const [threads = 0, waits = 0] = world.scheduler.snapshot().lanes.map(({ busy }) => busy)
        most = {
          thread: Math.max(most.thread, threads),
          shared: Math.max(most.shared, waits),
          atOnce: Math.max(most.atOnce, threads + waits),
        }
      }
      expect(most).toEqual({ thread, shared, atOnce })
      expect(world.disk.results).toHaveLength(tasks.length)
    })

    it('serves both lanes in turn, however busy one of them is', async () => {
      const world = await start(10)
      await world.scheduleAll(Array.from({ length: 80 }, (_, i) => (i % 2 ? {} : { handler: 'wait' })))
      await world.clock.advance(120)
      const ran = new Set(world.starts.map(({ id }) => world.task(id).spec.handler))
      expect(ran).toEqual(new Set(['work', 'wait']))
    })

    it('goes on after it has been empty', async () => {
      const world = await start()
      await world.schedule()
      await world.clock.advance(600_000)
      const { spec } = await world.schedule(after(50))
      await world.clock.advance(150)
      expect(world.result(spec.id).outcome).toBe('succeeded')
    })

    it('is woken by a task that comes before the one it sleeps for', async () => {
      const world = await start()
      await world.schedule(after(50_000))
      const { spec } = await world.schedule(after(500))
      await world.clock.advance(1_000)
      expect(lateness(world, spec)).toBeLessThanOrEqual(lateMs)
    })

    it(`wakes ${idleWakes} times in a minute in which nothing is due`, async () => {
      const world = new SchedulerWorld(options())
      const alarms = countAlarms(world)
      await world.start()
      await world.schedule(after(3_600_000))
      await world.clock.advance(1_000)
      const before = alarms.rung
      await world.clock.advance(60_000)
      expect(alarms.rung - before).toBe(idleWakes)
    })

    it('accepts tasks at once while every slot is busy and nobody reads a result', async () => {
      const world = await start(5_000)
      await world.scheduleAll(Array.from({ length: 20 }, () => ({})))
      await world.clock.advance(100)
      const [before, ended] = [world.clock.now(), world.disk.results.length]
      const accepted = await world.scheduleAll(Array.from({ length: 500 }, () => ({})))
      expect(accepted).toHaveLength(500)
      expect([world.clock.now(), world.disk.results.length]).toEqual([before, ended])
      await world.clock.advance(5_000 * Math.ceil(520 / thread) + 5_000)
      expect(world.disk.results).toHaveLength(520)
    })

    it('cancels what waits', async () => {
      const world = await start()
      const { spec } = await world.schedule(after(500))
      expect(taskOf(await world.cancel(spec.id)).state).toBe('cancelled')
      await world.clock.advance(1_000)
      expect(world.starts).toEqual([])
    })

    it('keeps the rhythm of a recurring task', async () => {
      const world = await start()
      const { spec, dueTime } = await world.schedule({
        ...after(1_000),
        recurrence: completeRecurrence({ everyMs: 1_000, maxRuns: 5 }),
      })
      await world.clock.advance(10_000)
      const late = world.startsOf(spec.id).map(({ at }, i) => at - dueTime - i * 1_000)
      expect(late).toHaveLength(5)
      expect(late.every((ms) => ms >= 0 && ms <= lateMs)).toBe(true)
    })

    it('runs what waited when its process died', async () => {
      const world = await start()
      const { spec } = await world.schedule(after(500))
      await world.restart()
      await world.clock.advance(1_000)
      expect(world.result(spec.id).outcome).toBe('succeeded')
      expect(lateness(world, spec)).toBeLessThanOrEqual(lateMs)
    })
  })
}

/** Counts what a scheduler is woken by, from before its start. */
function countAlarms({ clock }: SchedulerWorld): { readonly rung: number } {
  const count = { rung: 0 }
  const setAlarm = clock.setAlarm.bind(clock)
  clock.setAlarm = (at, fn) =>
    setAlarm(at, () => {
      count.rung++
      fn()
    })
  return count
}
