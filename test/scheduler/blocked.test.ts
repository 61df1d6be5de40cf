import { describe, expect, it } from 'vitest'
import { SchedulerWorld, taskOf, type Work } from '../support/scheduler-world.js'
import type { GivenSpec } from '../support/task-specs.js'

const many = (count: number, spec: GivenSpec): GivenSpec[] => Array.from({ length: count }, () => spec)
const sleeps: Work = (_, { sleep }) => sleep(100)
const CAPACITY = 20

/** A server that can hold 20 waiting tasks in memory. */
function start(
  more: { readonly handlers?: Readonly<Record<string, Work>>; readonly thread?: number } = {},
): Promise<SchedulerWorld> {
  return SchedulerWorld.start({
    handlers: { work: sleeps, few: sleeps, wait: sleeps, ...more.handlers },
    handlerInfo: { few: { maxConcurrent: 1 }, wait: { lane: 'shared' } },
    slots: { thread: more.thread ?? 4, shared: 4 },
    scheduler: { capacity: CAPACITY },
  })
}

describe('tasks that cannot start', () => {
  it.each([
    ['their handler is not loaded', { handler: 'nobody' }],
    ['their key is held', { concurrencyKey: 'k' }],
    ['their handler is at its limit', { handler: 'few' }],
    ['their lane is at its limit', { handler: 'wait' }],
  ] as const)('however many, take no place from those behind them: %s', async (_, spec) => {
    const world = await start()
    await world.scheduleAll(many(500, spec))
    const behind = await world.scheduleAll(many(3, {}))
    await world.clock.advance(2_000)
    expect(behind.map(({ spec: { id } }) => world.results(id).length)).toEqual([1, 1, 1])
    expect(world.scheduler.snapshot().near).toBeLessThanOrEqual(2 * CAPACITY)
  })

  it.each([
    ['key', { concurrencyKey: 'k' }],
    ['limit', { handler: 'few' }],
    ['lane', { handler: 'wait' }],
  ] as const)('all start in the end, in order: %s', async (_, spec) => {
    const world = await start()
    const tasks = await world.scheduleAll(many(200, spec))
    // something in the other lane that has to be looked for
    await world.scheduleAll(many(5, {}))
    await world.clock.advance(60_000)
    const ids = new Set(tasks.map((task) => task.spec.id))
    const order = world.starts.map(({ id }) => id).filter((id) => ids.has(id))
    expect(order).toEqual([...ids])
    expect(world.scheduler.snapshot()).toMatchObject({ near: 0, dueWaiting: 0 })
  })

  it('keep the due order of their key, also with those that come later', async () => {
    const world = await start()
    const begin = world.clock.now()
    await world.scheduleAll(many(100, { concurrencyKey: 'k' }))
    await world.clock.advance(500)
    const early: GivenSpec = { concurrencyKey: 'k', when: { kind: 'at', dueTime: begin } }
    await world.scheduleAll([...many(50, { concurrencyKey: 'k', priority: 9 }), early])
    await world.clock.advance(60_000)
    const dues = world.starts.map(({ id }) => world.task(id).dueTime)
    expect(dues).toEqual(dues.toSorted((a, b) => a - b))
    expect(dues).toHaveLength(151)
  })

  it('can be cancelled, paused and replaced wherever they are', async () => {
    const world = await start()
    const tasks = await world.scheduleAll(many(100, { concurrencyKey: 'k' }))
    const [cancelled, paused, replaced] = [50, 60, 99].map((i) => tasks[i]?.spec.id ?? '') as [
      string,
      string,
      string,
    ]
    expect(taskOf(await world.cancel(cancelled)).state).toBe('cancelled')
    expect(taskOf(await world.one(world.scheduler.pause([paused]))).paused).toBe(true)
    const spec = { ...world.task(replaced).spec, concurrencyKey: '' }
    await world.one(world.scheduler.replace([{ spec, requestId: '' }]))
    await world.clock.advance(100)
    expect(world.result(replaced).outcome).toBe('succeeded')
    await world.clock.advance(60_000)
    expect(world.startsOf(cancelled)).toEqual([])
    expect(world.startsOf(paused)).toEqual([])
    await world.one(world.scheduler.resume([paused]))
    await world.clock.advance(1_000)
    expect(world.disk.results).toHaveLength(100)
  })

  it('say why they wait', async () => {
    const world = await start()
    const keyed = await world.scheduleAll(many(100, { concurrencyKey: 'k' }))
    const limited = await world.scheduleAll(many(100, { handler: 'few' }))
    const lost = await world.schedule({ handler: 'nobody' })
    const paused = await world.schedule({ when: { kind: 'after', delayMs: 1_000 } })
    await world.one(world.scheduler.pause([paused.spec.id]))
    const reason = (id: string): string | undefined => world.scheduler.blockedReason(world.task(id))
    expect([1, 50, 99].map((i) => reason(keyed[i]?.spec.id ?? ''))).toEqual(Array(3).fill('concurrencyKey'))
    expect([1, 50, 99].map((i) => reason(limited[i]?.spec.id ?? ''))).toEqual(Array(3).fill('handlerLimit'))
    expect(reason(lost.spec.id)).toBe('handlerMissing')
    expect(reason(paused.spec.id)).toBe('paused')
    expect(reason(keyed[0]?.spec.id ?? '')).toBeUndefined()
  })

  it('expire in time while they wait', async () => {
    const world = await start()
    await world.scheduleAll(many(50, { concurrencyKey: 'k' }))
    const { spec } = await world.schedule({ handler: 'nobody', startWithinMs: 1_000 })
    await world.clock.advance(1_001)
    expect(world.result(spec.id).outcome).toBe('expired')
  })

  it('start after a restart that brings their handler', async () => {
    const world = await start()
    await world.scheduleAll(many(100, { handler: 'late' }))
    await world.clock.advance(1_000)
    await world.restart({ late: () => 1 })
    await world.clock.advance(10_000)
    expect(world.disk.results).toHaveLength(100)
  })

  it('are found again when the wall clock is set back and comes round', async () => {
    const world = await start()
    await world.scheduleAll(many(100, { concurrencyKey: 'k' }))
    await world.clock.advance(1_000)
    await world.clock.step(-3_600_000)
    await world.clock.advance(3_700_000)
    expect(world.disk.results).toHaveLength(100)
  })

  it('are fetched when the store is back, if it was away', async () => {
    const world = await start()
    await world.scheduleAll(many(100, { concurrencyKey: 'k' }))
    world.store.trouble = new Error('away')
    await world.clock.advance(5_000)
    world.store.trouble = undefined
    await world.clock.advance(60_000)
    expect(world.disk.results).toHaveLength(100)
  })
})
