import { describe, expect, it } from 'vitest'
import { SchedulerWorld, type Work } from '../support/scheduler-world.js'
import type { GivenSpec } from '../support/task-specs.js'

const after = (delayMs: number): GivenSpec => ({ when: { kind: 'after', delayMs } })
const HOUR = 3_600_000

describe('time', () => {
  it('C005: nothing starts before its due time, on 300 marks of 100 ms', async () => {
    const world = await SchedulerWorld.start()
    const tasks = await world.scheduleAll(Array.from({ length: 300 }, (_, i) => after(100 * (i + 1))))
    await world.clock.advance(31_000)
    expect(world.starts.map(({ at }) => at)).toEqual(tasks.map(({ dueTime }) => dueTime))
    expect(tasks.every(({ spec, dueTime }) => world.result(spec.id).startTimeUs >= dueTime * 1_000)).toBe(
      true,
    )
  })

  it('C005: an alarm that comes early is no reason to start early', async () => {
    const world = new SchedulerWorld()
    const setAlarm = world.clock.setAlarm.bind(world.clock)
    // a timer that is always 3 ms early, but for the last 3 ms
    world.clock.setAlarm = (at, fn) => setAlarm(Math.max(world.clock.now() + 1, at - 3), fn)
    await world.start()
    const tasks = await world.scheduleAll([after(50), after(51), after(52), after(1_000)])
    await world.clock.advance(2_000)
    expect(world.starts.map(({ at }) => at)).toEqual(tasks.map(({ dueTime }) => dueTime))
  })

  it('C005: no start is noted before the reading that decided it, whatever the clock of a thread says', async () => {
    const world = await SchedulerWorld.start()
    world.clock.nowMicros = () => 5
    const { spec, dueTime } = await world.schedule(after(100))
    await world.clock.advance(100)
    expect(world.result(spec.id)).toMatchObject({ startTimeUs: dueTime * 1_000, endTimeUs: dueTime * 1_000 })
  })

  it('of a year with one task passes in as long as its events take', async () => {
    const world = await SchedulerWorld.start()
    const { spec, dueTime } = await world.schedule(after(365 * 24 * HOUR))
    await world.clock.advance(366 * 24 * HOUR)
    expect(world.startsOf(spec.id)).toMatchObject([{ at: dueTime }])
  })
})

describe('a task that arrives', () => {
  it('earlier than the one that is slept for wakes the sleeper', async () => {
    const world = await SchedulerWorld.start()
    const [late] = await world.scheduleAll([after(50_000)])
    await world.clock.advance(1_000)
    const [early] = await world.scheduleAll([after(500)])
    await world.clock.advance(500)
    expect(world.starts.map(({ id }) => id)).toEqual([early?.spec.id])
    await world.clock.advance(60_000)
    expect(world.starts.map(({ id }) => id)).toEqual([early?.spec.id, late?.spec.id])
  })
})

describe('a wall clock that is set forward', () => {
  it('C006: what became due by that runs at once, once', async () => {
    const world = await SchedulerWorld.start()
    const { spec } = await world.schedule(after(600_000))
    await world.clock.advance(2_000)
    await world.clock.step(600_000)
    expect(world.startsOf(spec.id)).toHaveLength(1)
    await world.clock.advance(HOUR)
    expect(world.startsOf(spec.id)).toHaveLength(1)
  })

  it('does not shorten an attempt: time-outs go by the steady clock', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: (_, { sleep }) => sleep(5_000) } })
    const { spec } = await world.schedule({ attemptTimeoutMs: 10_000 })
    await world.clock.step(HOUR)
    await world.clock.advance(5_000)
    expect(world.result(spec.id).outcome).toBe('succeeded')
  })
})

describe('a wall clock that is set back', () => {
  it('C009: nothing that ran runs again', async () => {
    const world = await SchedulerWorld.start()
    const tasks = await world.scheduleAll([after(0), after(10_000), after(20_000)])
    await world.clock.advance(60_000)
    await world.clock.step(-HOUR)
    await world.clock.advance(2 * HOUR)
    expect(world.starts).toHaveLength(3)
    expect(tasks.every(({ spec }) => world.results(spec.id).length === 1)).toBe(true)
  })

  it('leaves a due time that somebody asked for where it is on the wall', async () => {
    const world = await SchedulerWorld.start()
    const { spec, dueTime } = await world.schedule(after(10_000))
    await world.clock.advance(5_000)
    await world.clock.step(-HOUR)
    await world.clock.advance(10_000)
    expect(world.starts).toEqual([])
    await world.clock.advanceTo(dueTime)
    expect(world.startsOf(spec.id)).toMatchObject([{ at: dueTime }])
  })

  it('does not start what was due before the step and is not due now', async () => {
    const world = await SchedulerWorld.start({
      slots: { thread: 1 },
      handlers: { work: (_, { sleep }) => sleep(1_000) },
    })
    await world.scheduleAll([after(0), after(100), after(200)])
    await world.clock.advance(500)
    await world.clock.step(-HOUR)
    await world.clock.advance(10_000)
    expect(world.starts).toHaveLength(1)
    await world.clock.advance(HOUR)
    expect(world.starts).toHaveLength(3)
    expect(world.starts.every(({ id, at }) => at >= world.result(id).dueTime)).toBe(true)
  })

  it('does not start what was due when its start was noted, and is not any more', async () => {
    const world = await SchedulerWorld.start({ commitMs: 5 })
    const [task] = await world.scheduleAll([{ ...after(100), atMostOnce: true }])
    await world.clock.advance(97)
    expect(world.starts).toEqual([])
    await world.clock.step(-HOUR)
    await world.clock.advance(1_000)
    expect(world.starts).toEqual([])
    await world.clock.advance(HOUR)
    expect(world.starts.every(({ at }) => at >= (task?.dueTime ?? Infinity))).toBe(true)
    expect(world.result(task?.spec.id ?? '')).toMatchObject({ outcome: 'succeeded', attempts: 1 })
  })

  it('does not start a new task early', async () => {
    const world = await SchedulerWorld.start()
    await world.schedule()
    await world.clock.advance(60_000)
    await world.clock.step(-HOUR)
    const { spec, dueTime } = await world.schedule(after(10_000))
    await world.clock.advance(20_000)
    expect(world.startsOf(spec.id)).toMatchObject([{ at: dueTime }])
  })

  it('does not stretch a back-off beyond what its policy allows, in memory and outside', async () => {
    const fails: Work = () => Promise.reject(new Error('no'))
    const world = await SchedulerWorld.start({ handlers: { work: fails } })
    const policy = (initialBackoffMs: number): GivenSpec => ({
      retry: { maxAttempts: 2, initialBackoffMs, maxBackoffMs: initialBackoffMs, jitterRatio: 0 },
    })
    const [near, far] = await world.scheduleAll([policy(10_000), policy(600_000)])
    await world.clock.advance(1_000)
    await world.clock.step(-24 * HOUR)
    await world.clock.advance(10_000)
    expect(world.startsOf(near?.spec.id ?? '')).toHaveLength(2)
    await world.clock.advance(600_000)
    expect(world.startsOf(far?.spec.id ?? '')).toHaveLength(2)
  })
})
