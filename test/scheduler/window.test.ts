import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SchedulerWorld } from '../support/scheduler-world.js'
import type { GivenSpec } from '../support/task-specs.js'

const after = (delayMs: number): GivenSpec => ({ when: { kind: 'after', delayMs } })
const small = (capacity: number, more: object = {}): object => ({ capacity, staleMs: 0, ...more })

describe('memory', () => {
  it('holds what is due within the window, and not what is due later', async () => {
    const world = await SchedulerWorld.start()
    await world.scheduleAll([after(1_000), after(59_000), after(61_000), after(86_400_000)])
    expect(world.scheduler.snapshot().near).toBe(2)
    await world.clock.advance(40_000)
    expect(world.scheduler.snapshot().near).toBe(2)
    await world.clock.advance(100_000)
    expect(world.starts).toHaveLength(3)
  })

  it('never holds more than fits, however many are due', async () => {
    const world = await SchedulerWorld.start({
      slots: { thread: 3 },
      handlers: { work: (_, { sleep }) => sleep(10) },
      scheduler: small(20),
    })
    await world.scheduleAll(Array.from({ length: 500 }, () => ({})))
    let most = 0
    for (let i = 0; i < 300; i++) {
      await world.clock.advance(10)
      most = Math.max(most, world.scheduler.snapshot().near)
    }
    expect(most).toBeLessThanOrEqual(24)
    expect(world.disk.results).toHaveLength(500)
    expect(new Set(world.starts.map(({ id }) => id)).size).toBe(500)
  })

  it('is given up for tasks that come first', async () => {
    const world = await SchedulerWorld.start({
      slots: { thread: 1 },
      handlers: { work: (_, { sleep }) => sleep(1_000) },
      scheduler: small(10, { staleMs: 100 }),
    })
    await world.scheduleAll(Array.from({ length: 50 }, () => ({})))
    const high = await world.scheduleAll(Array.from({ length: 30 }, () => ({ priority: 5 })))
    expect(world.scheduler.snapshot().near).toBeLessThanOrEqual(12)
    await world.clock.advance(31_000)
    expect(world.starts.slice(1, 31).map(({ id }) => id)).toEqual(high.map(({ spec }) => spec.id))
    await world.clock.advance(100_000)
    expect(world.disk.results).toHaveLength(80)
  })
})

describe('an idle scheduler', () => {
  it('with tasks far ahead asks the store for nothing', async () => {
    const world = await SchedulerWorld.start()
    await world.scheduleAll([after(86_400_000)])
    const calls = (): number => [...world.store.calls.values()].reduce((a, b) => a + b, 0)
    const before = calls()
    await world.clock.advance(86_000_000)
    expect(calls() - before).toBeLessThan(5)
    await world.clock.advance(400_000)
    expect(world.starts).toHaveLength(1)
  })
})

describe('a task that is moved', () => {
  it('from far to now starts at once', async () => {
    const world = await SchedulerWorld.start()
    const { spec } = await world.schedule(after(86_400_000))
    await world.one(world.scheduler.runNow([spec.id]))
    await world.clock.settle()
    expect(world.result(spec.id)).toMatchObject({ outcome: 'succeeded', manual: true })
  })

  it('from now to far leaves memory and comes back in time', async () => {
    const world = await SchedulerWorld.start()
    const { spec } = await world.schedule(after(1_000))
    await world.one(
      world.scheduler.replace([
        { spec: { ...spec, when: { kind: 'after', delayMs: 500_000 } }, requestId: '' },
      ]),
    )
    expect(world.scheduler.snapshot().near).toBe(0)
    const { dueTime } = world.task(spec.id)
    await world.clock.advance(600_000)
    expect(world.starts.map(({ at }) => at)).toEqual([dueTime])
  })

  it('by REPLACE after its end runs again', async () => {
    const world = await SchedulerWorld.start()
    const { spec } = await world.schedule()
    const again = { ...spec, when: { kind: 'after', delayMs: 5_000 } as const }
    await world.one(world.scheduler.replace([{ spec: again, requestId: 'r' }]))
    await world.clock.advance(5_000)
    expect(world.results(spec.id)).toMatchObject([{ run: 1 }, { run: 2 }])
    expect(world.starts).toHaveLength(2)
  })

  it('by a retry after its end runs once more', async () => {
    const world = await SchedulerWorld.start({
      slots: { thread: 1 },
      handlers: { work: (_, { sleep }) => sleep(500) },
    })
    await world.schedule()
    const { spec } = await world.schedule({ startWithinMs: 100 })
    await world.clock.advance(1_000)
    expect(world.result(spec.id).outcome).toBe('expired')
    await world.one(world.scheduler.retry([spec.id]))
    await world.clock.advance(1_000)
    expect(world.results(spec.id)).toMatchObject([{ outcome: 'expired' }, { run: 2, outcome: 'succeeded' }])
  })

  it('by a pause does not start until it is resumed, over a restart, too', async () => {
    const world = await SchedulerWorld.start()
    const [near, far] = await world.scheduleAll([after(5_000), after(500_000)])
    const ids = [near, far].map((task) => task?.spec.id ?? '')
    const paused = world.scheduler.pause(ids)
    await world.clock.settle()
    expect(await paused).toMatchObject([{ paused: true }, { paused: true }])
    await world.clock.advance(1_000_000)
    await world.restart()
    await world.clock.advance(1_000)
    expect(world.starts).toEqual([])
    const resumed = world.scheduler.resume(ids)
    await world.clock.advance(1_000)
    expect(await resumed).toMatchObject([{ paused: false }, { paused: false }])
    expect(world.disk.results).toHaveLength(2)
  })
})

describe('the order', () => {
  const spec = fc.record({
    delayMs: fc.integer({ min: 0, max: 60 }),
    priority: fc.integer({ min: -2, max: 2 }),
    /** How long before the others are inserted. */
    atMs: fc.integer({ min: 0, max: 30 }),
  })

  it('is the same inside the window and across its edge', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(spec, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 9 }),
        async (specs, capacity, workMs) => {
          const run = async (options: object): Promise<string[]> => {
            const world = await SchedulerWorld.start({
              slots: { thread: 1 },
              handlers: { work: (_, { sleep }) => sleep(workMs) },
              scheduler: { priorityStepMs: 10, ...options },
            })
            for (let ms = 0; ms <= 30; ms++) {
              const now = specs.flatMap(({ atMs, delayMs, priority }, i) =>
                atMs === ms ? [{ ...after(delayMs), priority, id: `${i}` }] : [],
              )
              await world.scheduleAll(now)
              await world.clock.advance(1)
            }
            await world.clock.advance(1_000)
            return world.starts.map(({ id }) => id)
          }
          const roomy = await run({})
          expect(await run(small(capacity, { windowMs: 20 }))).toEqual(roomy)
          expect(roomy).toHaveLength(specs.length)
        },
      ),
      { numRuns: 60 },
    )
  })
})
