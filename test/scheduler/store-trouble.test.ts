import { describe, expect, it } from 'vitest'
import { SchedulerError, StoreUnavailableError } from '../../server/task/errors.js'
import { errorOf, SchedulerWorld, taskOf, type Work } from '../support/scheduler-world.js'

const trouble = new StoreUnavailableError('the disk is full')
const sleeps: Work = (_, { sleep }) => sleep(1_000)

describe('a store that does not commit', () => {
  it('gets the endings, kept meanwhile, once when it does again', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps } })
    const { spec } = await world.schedule()
    await world.clock.advance(500)
    world.store.trouble = trouble
    await world.clock.advance(30_000)
    expect(world.results(spec.id)).toEqual([])
    expect(world.scheduler.snapshot().storeAvailable).toBe(false)
    world.store.trouble = undefined
    await world.clock.advance(2_000)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'succeeded', attempts: 1 })
    expect(world.scheduler.snapshot().storeAvailable).toBe(true)
    expect(world.starts).toHaveLength(1)
  })

  it('lets nothing start; what fell due starts when it commits again', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps } })
    const [running, due] = await world.scheduleAll([{}, { when: { kind: 'after', delayMs: 5_000 } }])
    world.store.trouble = trouble
    await world.clock.advance(30_000)
    expect(world.startsOf(due?.spec.id ?? '')).toEqual([])
    world.store.trouble = undefined
    await world.clock.advance(5_000)
    expect(world.result(running?.spec.id ?? '').outcome).toBe('succeeded')
    expect(world.result(due?.spec.id ?? '').outcome).toBe('succeeded')
  })

  it('refuses a change at once and leaves the task as it was', async () => {
    const world = await SchedulerWorld.start()
    const { spec, dueTime } = await world.schedule({ when: { kind: 'after', delayMs: 5_000 } })
    world.store.trouble = trouble
    expect(errorOf(await world.cancel(spec.id))).toBe(trouble)
    world.store.trouble = undefined
    await world.clock.advance(10_000)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'succeeded', startTimeUs: dueTime * 1_000 })
  })

  it('refuses a change of a task whose ending is kept at once, too', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps } })
    const { spec } = await world.schedule()
    world.store.trouble = trouble
    await world.clock.advance(1_500)
    expect(errorOf(await world.cancel(spec.id))).toBeInstanceOf(StoreUnavailableError)
    world.store.trouble = undefined
    await world.clock.advance(5_000)
    expect(world.result(spec.id).outcome).toBe('succeeded')
  })

  it('refuses a change that waits for an ending, as soon as that cannot be stored', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps }, commitMs: 50 })
    const [task] = await world.scheduleAll([{}])
    await world.clock.advance(1_010)
    const answers = world.scheduler.cancel([task?.spec.id ?? ''], 0)
    await world.clock.settle()
    world.store.trouble = trouble
    await world.clock.advance(60)
    expect((await answers)[0]).toBeInstanceOf(StoreUnavailableError)
  })

  it('does not let a start happen that has to be on disk first', async () => {
    const world = await SchedulerWorld.start()
    const { spec } = await world.schedule({ atMostOnce: true, when: { kind: 'after', delayMs: 100 } })
    world.store.trouble = trouble
    await world.clock.advance(10_000)
    expect(world.starts).toEqual([])
    world.store.trouble = undefined
    await world.clock.advance(5_000)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'succeeded', attempts: 1 })
  })

  it('is asked again and again, at growing intervals, not in a loop', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps } })
    await world.schedule()
    world.store.trouble = trouble
    await world.clock.advance(2_000)
    const before = [...world.store.calls.values()].reduce((a, b) => a + b, 0)
    await world.clock.advance(60_000)
    const calls = [...world.store.calls.values()].reduce((a, b) => a + b, 0) - before
    expect(calls).toBeGreaterThan(20)
    expect(calls).toBeLessThan(100)
  })
})

describe('a fault that nobody foresaw, when a task is looked up', () => {
  it('fails the call as it is, and is not told as a store that will be back', async () => {
    const world = await SchedulerWorld.start()
    world.store.get = () => Promise.reject(new TypeError('odd'))
    const far = await world.schedule({ when: { kind: 'after', delayMs: 3_600_000 } })
    const answers = world.scheduler.cancel([far.spec.id], 0)
    await expect(Promise.all([answers, world.clock.settle()])).rejects.toThrow(TypeError)
  })
})

describe('one state that cannot be stored', () => {
  it('holds up no other, and is tried again', async () => {
    const world = await SchedulerWorld.start({
      handlers: { work: sleeps, odd: sleeps },
      slots: { thread: 20 },
    })
    const tasks = await world.scheduleAll(
      Array.from({ length: 9 }, (_, i) => ({ handler: i === 4 ? 'odd' : 'work' })),
    )
    const { store } = world
    const update = store.update.bind(store)
    let isOdd = true
    store.update = (transitions) =>
      isOdd && transitions.some(({ task }) => task.spec.handler === 'odd')
        ? Promise.reject(new TypeError('odd'))
        : update(transitions)
    await world.clock.advance(1_000)
    const outcomes = (): (string | undefined)[] => tasks.map(({ spec }) => world.results(spec.id)[0]?.outcome)
    expect(outcomes().filter((outcome) => outcome === 'succeeded')).toHaveLength(8)
    expect(world.scheduler.snapshot().storeAvailable).toBe(true)
    isOdd = false
    await world.clock.advance(10_000)
    expect(outcomes()).toEqual(tasks.map(() => 'succeeded'))
  })
})

describe('a refused transition', () => {
  it('leaves the stored state, and is answered with it', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps } })
    const { spec } = await world.schedule({ when: { kind: 'after', delayMs: 5_000 } })
    const row = world.disk.rows.get(spec.id)
    if (!row) throw new Error('it must be stored')
    row.task = { ...row.task, state: 'cancelled', startId: 1_000_000 }
    const answer = await world.one(world.scheduler.pause([spec.id]))
    expect(answer).not.toBeInstanceOf(SchedulerError)
    expect(taskOf(answer)).toMatchObject({ state: 'cancelled', paused: false })
    await world.clock.advance(60_000)
    expect(world.starts).toEqual([])
  })
})
