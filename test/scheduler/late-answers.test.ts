import { describe, expect, it } from 'vitest'
import { SchedulerWorld, taskOf } from '../support/scheduler-world.js'
import type { GivenSpec } from '../support/task-specs.js'

const after = (delayMs: number): GivenSpec => ({ when: { kind: 'after', delayMs } })

/** From now on the store takes effect at once, but what `name` answers comes `ms` later than what is asked after it. */
function delay(world: SchedulerWorld, name: 'takeWindow' | 'nextWaiting' | 'get', ms: number): void {
  const { store } = world
  const late = <T>(answer: Promise<T>): Promise<T> =>
    answer.then((value) => new Promise((resolve) => world.clock.setTimer(ms, () => resolve(value))))
  const bare = {
    takeWindow: store.takeWindow.bind(store),
    nextWaiting: store.nextWaiting.bind(store),
    get: store.get.bind(store),
  }
  if (name === 'takeWindow') store.takeWindow = (query) => late(bare.takeWindow(query))
  if (name === 'nextWaiting') store.nextWaiting = () => late(bare.nextWaiting())
  if (name === 'get') store.get = (ids) => late(bare.get(ids))
}

/** A task that waits outside memory, a moment before the window opens for it. */
async function justOutside(): Promise<{ readonly world: SchedulerWorld; readonly id: string }> {
  const world = await SchedulerWorld.start()
  const { spec } = await world.schedule(after(61_000))
  await world.clock.advance(30_000)
  return { world, id: spec.id }
}

describe('a window whose answer comes late', () => {
  it('does not bring back a task that was cancelled meanwhile', async () => {
    const { world, id } = await justOutside()
    delay(world, 'takeWindow', 20)
    await world.clock.advance(1_010)
    expect(world.store.calls.get('takeWindow')).toBeGreaterThan(1)
    expect(taskOf(await world.cancel(id)).state).toBe('cancelled')
    await world.clock.advance(120_000)
    expect(world.starts).toEqual([])
    expect(world.scheduler.snapshot().near).toBe(0)
  })

  it('brings a task as it was changed meanwhile', async () => {
    const { world, id } = await justOutside()
    delay(world, 'takeWindow', 20)
    await world.clock.advance(1_010)
    const spec = { ...world.task(id).spec, when: { kind: 'after', delayMs: 5_000 } as const }
    await world.one(world.scheduler.replace([{ spec, requestId: '' }]))
    const { dueTime } = world.task(id)
    await world.clock.advance(120_000)
    expect(world.startsOf(id).map(({ at }) => at)).toEqual([dueTime])
  })

  it('does not double a task that is being changed at that moment', async () => {
    const world = await SchedulerWorld.start({ commitMs: 10 })
    const [task] = await world.scheduleAll([after(61_000)])
    const id = task?.spec.id ?? ''
    await world.clock.advance(30_000)
    delay(world, 'takeWindow', 15)
    await world.clock.advance(1_000)
    const paused = world.scheduler.pause([id])
    await world.clock.advance(120_000)
    expect(await paused).toMatchObject([{ paused: true }])
    expect(world.starts).toEqual([])
    const resumed = world.scheduler.resume([id])
    await world.clock.advance(1_000)
    expect(await resumed).toMatchObject([{ paused: false }])
    expect(world.startsOf(id)).toHaveLength(1)
  })

  it('does not hide a task that was stored meanwhile', async () => {
    const { world } = await justOutside()
    delay(world, 'nextWaiting', 20)
    await world.clock.advance(1_010)
    const { spec, dueTime } = await world.schedule(after(70_000))
    await world.clock.advance(120_000)
    expect(world.startsOf(spec.id).map(({ at }) => at)).toEqual([dueTime])
  })
})

describe('parked tasks that come back late', () => {
  it('are not overtaken by those of their group that come meanwhile', async () => {
    const world = await SchedulerWorld.start({
      handlers: { work: (_, { sleep }) => sleep(10) },
      scheduler: { capacity: 20 },
    })
    delay(world, 'get', 500)
    const first = await world.scheduleAll(Array.from({ length: 50 }, () => ({ concurrencyKey: 'k' })))
    const later: (string | undefined)[] = []
    // first faster, then slower than they come back
    for (let i = 0; i < 60; i++) {
      await world.clock.advance(i < 20 ? 50 : 300)
      const [task] = await world.scheduleAll([{ concurrencyKey: 'k' }])
      later.push(task?.spec.id)
    }
    await world.clock.advance(60_000)
    expect(world.starts.map(({ id }) => id)).toEqual([...first.map(({ spec }) => spec.id), ...later])
  })
})
