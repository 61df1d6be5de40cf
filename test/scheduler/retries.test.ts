import { describe, expect, it } from 'vitest'
import type { Work } from '../support/scheduler-world.js'
import { SchedulerWorld } from '../support/scheduler-world.js'
import { failure } from '../support/outcomes.js'

const alwaysFails: Work = () => failure()
/** Fails until the attempt of this number. */
const failsUntil =
  (attempt: number): Work =>
  (request) =>
    request.attempt < attempt ? failure() : undefined

describe('a failed attempt', () => {
  it('is retried when its back-off has passed, and not a moment earlier', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: failsUntil(2) } })
    const { spec } = await world.schedule({ retry: { maxAttempts: 2, initialBackoffMs: 1_000 } })
    await world.clock.advance(999)
    expect(world.startsOf(spec.id)).toHaveLength(1)
    await world.clock.advance(1)
    expect(world.startsOf(spec.id)).toHaveLength(2)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'succeeded', attempts: 2 })
    expect(world.disk.entries).toMatchObject([
      { kind: 'attempt', outcome: 'failed', attempts: 1 },
      { kind: 'result', outcome: 'succeeded' },
    ])
  })

  it('C066: waits 10, 300, 300, 300, 300 ms under a multiplier that would overflow, then is FAILED', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: alwaysFails } })
    const { spec, dueTime } = await world.schedule({
      retry: {
        maxAttempts: 6,
        initialBackoffMs: 10,
        backoffMultiplier: 1_000_000,
        maxBackoffMs: 300,
        jitterRatio: 0,
      },
    })
    await world.clock.advance(60_000)
    expect(world.startsOf(spec.id).map(({ at }) => at - dueTime)).toEqual([0, 10, 310, 610, 910, 1_210])
    expect(world.result(spec.id)).toMatchObject({ outcome: 'failed', attempts: 6 })
  })

  it('C068: keeps its count and its due time over a crash', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: alwaysFails } })
    const { spec, dueTime } = await world.schedule({
      retry: { maxAttempts: 3, initialBackoffMs: 3_000, backoffMultiplier: 1 },
    })
    await world.clock.advance(4_000)
    expect(world.startsOf(spec.id)).toHaveLength(2)
    await world.restart()
    expect(world.task(spec.id)).toMatchObject({ state: 'scheduled', attempts: 2, notBefore: dueTime + 6_000 })
    await world.clock.advance(60_000)
    expect(world.startsOf(spec.id).map(({ at, attempt }) => [at - dueTime, attempt])).toEqual([
      [0, 1],
      [3_000, 2],
      [6_000, 3],
    ])
    expect(world.result(spec.id)).toMatchObject({ outcome: 'failed', attempts: 3, interruptions: 0 })
  })

  it('backs off in the store when that is longer than the window, and comes back in time', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: failsUntil(2) } })
    const { spec, dueTime } = await world.schedule({
      retry: { maxAttempts: 2, initialBackoffMs: 3_600_000, maxBackoffMs: 3_600_000 },
    })
    expect(world.scheduler.snapshot().near).toBe(0)
    await world.clock.advance(4_000_000)
    expect(world.startsOf(spec.id).map(({ at }) => at - dueTime)).toEqual([0, 3_600_000])
  })

  it('C075: a hundred that fail together come back spread over the jitter; without jitter at once', async () => {
    const spread = async (jitterRatio: number): Promise<number[]> => {
      const world = await SchedulerWorld.start({
        handlers: { work: alwaysFails },
        slots: { thread: 100 },
        scheduler: { random: Math.random },
      })
      const given = { retry: { maxAttempts: 2, initialBackoffMs: 1_000, backoffMultiplier: 1, jitterRatio } }
      const tasks = await world.scheduleAll(Array.from({ length: 100 }, () => given))
      return tasks.map(({ spec, dueTime }) => world.task(spec.id).notBefore - dueTime)
    }
    const jittery = await spread(0.2)
    expect(Math.min(...jittery)).toBeGreaterThanOrEqual(800)
    expect(Math.max(...jittery)).toBeLessThanOrEqual(1_200)
    expect(new Set(jittery).size).toBeGreaterThanOrEqual(50)
    expect(new Set(await spread(0))).toEqual(new Set([1_000]))
  })
})

describe('attempt_timeout', () => {
  it('C071: counts from the start of the handler, not from the queue', async () => {
    const world = await SchedulerWorld.start({
      slots: { thread: 1 },
      handlers: { long: (_, { sleep }) => sleep(3_000), work: (_, { sleep }) => sleep(300) },
    })
    await world.schedule({ handler: 'long' })
    const { spec } = await world.schedule({ attemptTimeoutMs: 2_000 })
    await world.clock.advance(10_000)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'succeeded', attempts: 1 })
  })

  it('ends an attempt that does not listen after the grace, and only then the next one starts', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: () => new Promise(() => {}) } })
    const { spec, dueTime } = await world.schedule({
      attemptTimeoutMs: 2_000,
      retry: { maxAttempts: 2, initialBackoffMs: 10 },
    })
    await world.clock.advance(60_000)
    expect(world.startsOf(spec.id).map(({ at }) => at - dueTime)).toEqual([0, 3_010])
    expect(world.disk.entries).toMatchObject([
      { kind: 'attempt', outcome: 'timedOut', error: { code: 'TIMED_OUT' } },
      { kind: 'result', outcome: 'timedOut', attempts: 2 },
    ])
    expect(world.task(spec.id).state).toBe('failed')
  })

  it('in the shared lane, the retry waits until the old attempt has really ended', async () => {
    let release: () => void = () => {}
    const work: Work = ({ attempt }) =>
      attempt === 1 ? new Promise<void>((resolve) => (release = resolve)) : undefined
    const world = await SchedulerWorld.start({
      handlers: { work },
      handlerInfo: { work: { lane: 'shared' } },
    })
    const { spec } = await world.schedule({
      attemptTimeoutMs: 1_000,
      retry: { maxAttempts: 2, initialBackoffMs: 10 },
    })
    await world.clock.advance(60_000)
    expect(world.task(spec.id)).toMatchObject({ state: 'scheduled', attempts: 1 })
    release()
    await world.clock.settle()
    expect(world.result(spec.id)).toMatchObject({ outcome: 'succeeded', attempts: 2 })
  })
})

describe('start_within', () => {
  it('expires a run that could not start in time, at that moment', async () => {
    const world = await SchedulerWorld.start({
      slots: { thread: 1 },
      handlers: { long: (_, { sleep }) => sleep(5_000), work: () => 1 },
    })
    await world.schedule({ handler: 'long' })
    const { spec, dueTime } = await world.schedule({ startWithinMs: 1_000 })
    await world.clock.advance(1_000)
    expect(world.task(spec.id).state).toBe('scheduled')
    await world.clock.advance(1)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'expired', endTimeUs: (dueTime + 1_001) * 1_000 })
    await world.clock.advance(60_000)
    expect(world.startsOf(spec.id)).toEqual([])
  })

  it('lets a run start at the last moment', async () => {
    const world = await SchedulerWorld.start({
      slots: { thread: 1 },
      handlers: { long: (_, { sleep }) => sleep(1_000), work: () => 1 },
    })
    await world.schedule({ handler: 'long' })
    const { spec } = await world.schedule({ startWithinMs: 1_000 })
    await world.clock.advance(1_000)
    expect(world.result(spec.id).outcome).toBe('succeeded')
  })

  it('says nothing about retries', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: failsUntil(2) } })
    const { spec } = await world.schedule({
      startWithinMs: 100,
      retry: { maxAttempts: 2, initialBackoffMs: 5_000 },
    })
    await world.clock.advance(60_000)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'succeeded', attempts: 2 })
  })

  it('expires a task that fell due while no server ran', async () => {
    const world = await SchedulerWorld.start()
    const { spec } = await world.schedule({ startWithinMs: 1_000, when: { kind: 'after', delayMs: 10_000 } })
    world.crash()
    await world.clock.advance(20_000)
    await world.start()
    expect(world.result(spec.id).outcome).toBe('expired')
  })
})

describe('at_most_once', () => {
  it('is on disk as started before the handler begins', async () => {
    const seen: (string | undefined)[] = []
    const world = await SchedulerWorld.start({
      commitMs: 5,
      handlers: { work: ({ taskId }) => void seen.push(world.disk.task(taskId)?.state) },
    })
    await world.scheduleAll([{ atMostOnce: true }, {}])
    await world.clock.advance(100)
    expect(new Set(seen)).toEqual(new Set(['running', 'scheduled']))
  })

  it('is never started twice: after a crash it is FAILED (INTERRUPTED)', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: (_, { sleep }) => sleep(1_000) } })
    const { spec } = await world.schedule({ atMostOnce: true })
    await world.clock.advance(500)
    await world.restart()
    await world.clock.advance(60_000)
    expect(world.startsOf(spec.id)).toHaveLength(1)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'failed', error: { code: 'INTERRUPTED' } })
  })

  it('can be cancelled while its start is on the way to the disk', async () => {
    const world = await SchedulerWorld.start({
      commitMs: 50,
      handlers: { work: (_, { sleep }) => sleep(1_000) },
    })
    const [task] = await world.scheduleAll([{ atMostOnce: true }])
    const id = task?.spec.id ?? ''
    await world.clock.advance(10)
    const answer = world.scheduler.cancel([id], 0)
    await world.clock.advance(5_000)
    expect((await answer)[0]).toMatchObject({ state: 'running', cancelRequested: true })
    expect(world.result(id).outcome).toBe('cancelled')
  })
})
