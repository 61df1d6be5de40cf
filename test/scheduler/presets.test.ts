import { describe, expect, it } from 'vitest'
import { PRESETS, type PresetName } from '../../server/scheduler/presets.js'
import { exactTimer, ticker } from '../../server/scheduler/wake-policy.js'
import { SchedulerWorld, taskOf } from '../support/scheduler-world.js'
import type { GivenSpec } from '../support/task-specs.js'

const after = (delayMs: number): GivenSpec => ({ when: { kind: 'after', delayMs } })

/** What each design can promise: how late a start may be, and how many attempts run at once on an executor of 2 threads and 256 shared slots. */
const PROMISES: Readonly<
  Record<PresetName, { readonly lateMs: number; readonly thread: number; readonly shared: number }>
> = {
  'dynamic-sleep': { lateMs: 0, thread: 1, shared: 1 },
  polling: { lateMs: 100, thread: 2, shared: 256 },
  'worker-pool': { lateMs: 100, thread: 2, shared: 256 },
  heap: { lateMs: 0, thread: 2, shared: 256 },
}

describe.each(Object.entries(PROMISES))('%s', (name, promise) => {
  const start = (workMs = 0): Promise<SchedulerWorld> =>
    SchedulerWorld.start({
      handlers: { work: (_, { sleep }) => sleep(workMs), wait: (_, { sleep }) => sleep(workMs) },
      handlerInfo: { wait: { lane: 'shared' } },
      scheduler: { preset: PRESETS[name as PresetName] },
    })

  it(`starts nothing early, and at most ${promise.lateMs} ms late while a slot is free`, async () => {
    const world = await start()
    const tasks = await world.scheduleAll(Array.from({ length: 50 }, (_, i) => after(1 + i * 37)))
    await world.clock.advance(5_000)
    const late = tasks.map(({ spec, dueTime }) => (world.startsOf(spec.id)[0]?.at ?? Infinity) - dueTime)
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...late)).toBeLessThanOrEqual(promise.lateMs)
  })

  it('runs each task once, in order of due time, priority and arrival', async () => {
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

  it(`runs at most ${promise.thread} threads and ${promise.shared} shared attempts at once`, async () => {
    const world = await start(1_000)
    await world.scheduleAll([
      ...Array.from({ length: 10 }, () => ({})),
      ...Array.from({ length: 300 }, () => ({ handler: 'wait' })),
    ])
    let [threads, shared] = [0, 0]
    for (let i = 0; i < 100; i++) {
      await world.clock.advance(700)
      const [thread, wait] = world.scheduler.snapshot().lanes
      threads = Math.max(threads, thread?.busy ?? 0)
      shared = Math.max(shared, wait?.busy ?? 0)
    }
    expect({ threads, shared }).toEqual({ threads: promise.thread, shared: promise.shared })
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
    const { spec, dueTime } = await world.schedule(after(500))
    await world.clock.advance(1_000)
    expect((world.startsOf(spec.id)[0]?.at ?? Infinity) - dueTime).toBeLessThanOrEqual(promise.lateMs)
  })

  it('cancels what waits', async () => {
    const world = await start()
    const { spec } = await world.schedule(after(500))
    expect(taskOf(await world.cancel(spec.id)).state).toBe('cancelled')
    await world.clock.advance(1_000)
    expect(world.starts).toEqual([])
  })
})

describe('wake policies', () => {
  it('exactTimer wakes when the next task is due, or at once', () => {
    expect([exactTimer(100, 150), exactTimer(100, 50), exactTimer(100, Infinity)]).toEqual([
      150,
      100,
      Infinity,
    ])
  })

  it('a ticker wakes on full multiples, whatever is due', () => {
    const tick = ticker(100)
    expect([tick(0, 5), tick(99, 5), tick(100, 5), tick(101, Infinity)]).toEqual([100, 100, 200, 200])
  })

  it('a freed slot takes what was due at the last look, and a ticker stays a ticker', async () => {
    const world = await SchedulerWorld.start({
      slots: { thread: 1 },
      handlers: { work: (_, { sleep }) => sleep(30) },
      scheduler: { preset: PRESETS.polling },
    })
    await world.clock.advance(50)
    const begin = world.clock.now()
    await world.scheduleAll([after(10), after(20), after(55), after(110)])
    await world.clock.advance(1_000)
    expect(world.starts.map(({ at }) => at - begin)).toEqual([50, 80, 150, 180])
  })
})
