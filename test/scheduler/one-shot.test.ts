import { describe, expect, it } from 'vitest'
import { failure } from '../support/outcomes.js'
import { SchedulerWorld } from '../support/scheduler-world.js'

describe('a one-shot task', () => {
  it('runs at its due time, not a moment earlier, and has one result', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: () => 42 } })
    const { spec, dueTime } = await world.schedule({ when: { kind: 'after', delayMs: 5_000 } })
    await world.clock.advance(4_999)
    expect(world.starts).toEqual([])
    expect(world.task(spec.id)).toMatchObject({ state: 'scheduled', attempts: 0 })
    await world.clock.advance(1)
    expect(world.starts).toEqual([{ id: spec.id, at: dueTime, attempt: 1, run: 1 }])
    expect(world.task(spec.id)).toMatchObject({ state: 'succeeded', attempts: 1, endTime: dueTime })
    expect(world.result(spec.id)).toMatchObject({
      outcome: 'succeeded',
      run: 1,
      attempts: 1,
      dueTime,
      startTimeUs: dueTime * 1_000,
      last: true,
      output: { kind: 'json', text: '42' },
    })
  })

  it('runs at once when its due time has passed', async () => {
    const world = await SchedulerWorld.start()
    const task = await world.schedule({ when: { kind: 'at', dueTime: 1_000 } })
    expect(task.dueTime).toBe(world.clock.now())
    expect(world.task(task.spec.id).state).toBe('succeeded')
  })

  it('is RUNNING on disk while its handler works', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: (_, { sleep }) => sleep(1_000) } })
    const { spec, createTime } = await world.schedule()
    expect(world.task(spec.id)).toMatchObject({
      state: 'running',
      attempts: 1,
      startTimeUs: createTime * 1_000,
    })
    await world.clock.advance(1_000)
    expect(world.task(spec.id)).toMatchObject({ state: 'succeeded', startTimeUs: 0 })
  })

  it('C001: due in 25 days, it waits for 25 days', async () => {
    const world = await SchedulerWorld.start()
    const { spec, createTime, dueTime } = await world.schedule({
      when: { kind: 'after', delayMs: 2_160_000_000 },
    })
    expect(dueTime - createTime).toBe(2_160_000_000)
    await world.clock.advance(2_159_999_999)
    expect(world.task(spec.id)).toMatchObject({ state: 'scheduled', attempts: 0 })
    expect(world.disk.entries).toEqual([])
    await world.clock.advance(1)
    expect(world.result(spec.id).startTimeUs).toBe(dueTime * 1_000)
  })

  it('that ends at once costs the store one call, not two', async () => {
    const world = await SchedulerWorld.start()
    await world.scheduleAll([{}, {}])
    expect(world.store.calls.get('start')).toBeUndefined()
    expect(world.store.calls.get('update')).toBe(1)
  })

  it('has one result, whatever the executor tells twice or too late', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: (_, { sleep }) => sleep(1_000) } })
    const { spec } = await world.schedule()
    const { startId } = world.task(spec.id)
    const end = { startId, outcome: failure('FIRST'), startTimeUs: 1, endTimeUs: 2, workerId: '' }
    world.events?.ended([end, { ...end, outcome: failure('SECOND') }])
    world.events?.began([{ startId, startTimeUs: 1, workerId: '' }])
    world.events?.returned([startId])
    await world.clock.settle()
    world.events?.ended([end])
    world.events?.released([startId])
    await world.clock.advance(1_000)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'failed', error: { code: 'FIRST' } })
    expect(world.scheduler.snapshot().lanes).toMatchObject([{ busy: 0 }, { busy: 0 }])
  })
})
