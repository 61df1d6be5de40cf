import { describe, expect, it } from 'vitest'
import { SchedulerWorld, type Work } from '../support/scheduler-world.js'

const sleeps: Work = (_, { sleep }) => sleep(5_000)

describe('after a crash', () => {
  it('C078: what ran is seen and runs again at once, as its second attempt', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps } })
    const { spec } = await world.schedule({ retry: { maxAttempts: 3 } })
    await world.clock.advance(2_000)
    await world.restart()
    expect(world.task(spec.id)).toMatchObject({ state: 'running', attempts: 2, interruptions: 1 })
    await world.clock.advance(5_000)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'succeeded', attempts: 2, interruptions: 1 })
    expect(world.disk.entries[0]).toMatchObject({ kind: 'attempt', error: { code: 'INTERRUPTED' } })
  })

  it('a task with one attempt runs again, too: an interruption does not count', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps } })
    const { spec } = await world.schedule()
    await world.restart()
    await world.clock.advance(5_000)
    expect(world.result(spec.id).outcome).toBe('succeeded')
  })

  it('what waits is due when it was due; what fell due meanwhile starts at once', async () => {
    const world = await SchedulerWorld.start()
    const [soon, later, far] = await world.scheduleAll([
      { when: { kind: 'after', delayMs: 5_000 } },
      { when: { kind: 'after', delayMs: 30_000 } },
      { when: { kind: 'after', delayMs: 500_000 } },
    ])
    world.crash()
    await world.clock.advance(10_000)
    await world.start()
    const begin = soon?.createTime ?? 0
    await world.clock.advance(1_000_000)
    const at = [soon, later, far].map((task) =>
      world.startsOf(task?.spec.id ?? '').map((start) => start.at - begin),
    )
    expect(at).toEqual([[10_000], [30_000], [500_000]])
  })

  it('a running task that was to be cancelled is CANCELLED and does not run again', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: () => new Promise(() => {}) } })
    const { spec } = await world.schedule()
    await world.cancel(spec.id, 60_000)
    await world.restart()
    await world.clock.advance(60_000)
    expect(world.startsOf(spec.id)).toHaveLength(1)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'cancelled', cancelStage: 'terminated' })
  })

  it('an acknowledged task is there even if the crash came right after the answer', async () => {
    const world = await SchedulerWorld.start({ commitMs: 5 })
    const [task] = await world.scheduleAll([{}])
    await world.restart()
    await world.clock.advance(100)
    expect(world.result(task?.spec.id ?? '').outcome).toBe('succeeded')
  })

  it('a start id is never given out again', async () => {
    const ids: number[] = []
    const world = await SchedulerWorld.start({ handlers: { work: ({ startId }) => void ids.push(startId) } })
    await world.scheduleAll([{}, {}])
    await world.restart()
    await world.scheduleAll([{}, {}])
    expect(new Set(ids).size).toBe(4)
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
  })

  it('pauses, keys and retries go on as they were', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps } })
    const [first, second] = await world.scheduleAll([{ concurrencyKey: 'k' }, { concurrencyKey: 'k' }])
    const paused = await world.schedule({ when: { kind: 'after', delayMs: 1_000 } })
    await world.one(world.scheduler.pause([paused.spec.id]))
    await world.clock.advance(2_000)
    await world.restart()
    await world.clock.advance(60_000)
    expect(world.startsOf(paused.spec.id)).toEqual([])
    const [a, b] = [world.result(first?.spec.id ?? ''), world.result(second?.spec.id ?? '')]
    expect(b.startTimeUs).toBeGreaterThanOrEqual(a.endTimeUs)
    await world.one(world.scheduler.resume([paused.spec.id]))
    await world.clock.advance(6_000)
    expect(world.result(paused.spec.id).outcome).toBe('succeeded')
  })
})

describe('a task that kills its server', () => {
  /** Lets time pass and starts the server again whenever it has died. @returns how often that was, once nothing has happened for a good while. */
  const survive = async (world: SchedulerWorld, hasDied: () => boolean): Promise<number> => {
    let deaths = 0
    for (let calmSeconds = 0; calmSeconds < 120; calmSeconds++) {
      await world.clock.advance(1_000)
      if (!hasDied()) continue
      await world.restart()
      deaths++
      calmSeconds = 0
    }
    return deaths
  }

  it('takes nobody along: 50 innocents beside it succeed, and it is FAILED after 5 deaths', async () => {
    let killed = false
    const world = await SchedulerWorld.start({
      slots: { thread: 60 },
      handlers: {
        kill: () => {
          killed = true
          return new Promise(() => {})
        },
        work: (_, { sleep }) => sleep(1_000),
      },
    })
    const innocents = await world.scheduleAll(Array.from({ length: 50 }, () => ({})))
    const killer = await world.schedule({ handler: 'kill' })
    const wasKilled = (): boolean => {
      const was = killed
      killed = false
      return was
    }
    expect(await survive(world, wasKilled)).toBe(5)
    expect(world.result(killer.spec.id)).toMatchObject({
      outcome: 'failed',
      error: { code: 'INTERRUPTED' },
      attempts: 5,
      interruptions: 5,
    })
    expect(innocents.map(({ spec }) => world.result(spec.id).outcome)).toEqual(
      innocents.map(() => 'succeeded'),
    )
  })

  it('runs alone in quarantine: one suspect at a time, on a thread of its own', async () => {
    let most = 0
    let running = 0
    const alone: boolean[] = []
    const world = await SchedulerWorld.start({
      slots: { thread: 10 },
      handlers: {
        work: async (request, { sleep }) => {
          most = Math.max(most, ++running)
          alone.push(request.alone)
          await sleep(1_000)
          running--
        },
      },
    })
    const tasks = await world.scheduleAll(Array.from({ length: 5 }, () => ({})))
    expect(most).toBe(5)
    for (let death = 0; death < 2; death++) {
      running = 0
      await world.restart()
    }
    most = running
    await world.clock.advance(60_000)
    expect(most).toBe(1)
    expect(alone).toEqual([...Array<boolean>(10).fill(false), ...Array<boolean>(5).fill(true)])
    expect(tasks.map(({ spec }) => world.result(spec.id).outcome)).toEqual(tasks.map(() => 'succeeded'))
  })

  it('is on disk as started before it starts, as long as it is in quarantine', async () => {
    const seen: (string | undefined)[] = []
    const world = await SchedulerWorld.start({
      slots: { thread: 1 },
      handlers: { work: (_, { sleep }) => sleep(70_000) },
      commitMs: 5,
    })
    const tasks = await world.scheduleAll([{}])
    for (let death = 0; death < 2; death++) {
      await world.clock.advance(100)
      await world.restart()
    }
    // the first minute is over when this one starts
    const [next] = await world.scheduleAll([{ handler: 'look' }])
    const row = world.disk.rows.get(next?.spec.id ?? '')
    if (row) row.task = { ...row.task, suspicions: 2 }
    await world.restart({
      work: (_, { sleep }) => sleep(70_000),
      look: ({ taskId }) => void seen.push(world.disk.task(taskId)?.state),
    })
    await world.clock.advance(200_000)
    expect(world.results(tasks[0]?.spec.id ?? '')).toHaveLength(1)
    expect(seen).toEqual(['running'])
  })

  it('every start is on disk before it happens in the first minute after a crash', async () => {
    const seen: (string | undefined)[] = []
    const look: Work = ({ taskId }) => void seen.push(world.disk.task(taskId)?.state)
    const world = await SchedulerWorld.start({ handlers: { work: look }, commitMs: 5 })
    await world.scheduleAll([{}])
    await world.clock.advance(100)
    await world.restart()
    await world.scheduleAll([{}])
    await world.clock.advance(60_000)
    await world.scheduleAll([{}])
    await world.clock.advance(100)
    expect(seen).toEqual(['scheduled', 'running', 'scheduled'])
  })
})

describe('an orderly stop', () => {
  it('C087: starts nothing more, lets what runs end, and is clean', async () => {
    const world = await SchedulerWorld.start({
      handlers: { work: (_, { sleep }) => sleep(2_000) },
      slots: { thread: 1 },
    })
    const [running, waiting] = await world.scheduleAll([{}, {}])
    expect(await world.stop(10_000)).toBe(true)
    expect(world.result(running?.spec.id ?? '').outcome).toBe('succeeded')
    expect(world.task(waiting?.spec.id ?? '')).toMatchObject({ state: 'scheduled', attempts: 0 })
    expect(world.disk.cleanStop).toBe(true)
    await world.start()
    await world.clock.advance(2_000)
    expect(world.result(waiting?.spec.id ?? '')).toMatchObject({ outcome: 'succeeded', interruptions: 0 })
  })

  it('cuts off what does not end in time: it runs again, uncounted and no suspect', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: (_, { sleep }) => sleep(60_000) } })
    const { spec } = await world.schedule()
    expect(await world.stop(1_000)).toBe(false)
    expect(world.task(spec.id)).toMatchObject({
      state: 'scheduled',
      attempts: 1,
      interruptions: 1,
      suspicions: 0,
    })
    await world.start({ work: () => 1 })
    expect(world.result(spec.id)).toMatchObject({ outcome: 'succeeded', attempts: 2 })
  })

  it('leaves burst members that have not begun as if they had never been handed out', async () => {
    const world = await SchedulerWorld.start({
      handlers: { work: (_, { sleep }) => sleep(1) },
      slots: { thread: 1 },
    })
    await world.schedule()
    await world.clock.advance(10)
    const tasks = await world.scheduleAll([{}, {}, {}])
    await world.stop(0)
    const last = tasks[2]?.spec.id ?? ''
    expect(world.task(last)).toMatchObject({ state: 'scheduled', attempts: 0, interruptions: 0 })
    await world.start()
    await world.clock.advance(10)
    expect(world.results(last)).toMatchObject([{ outcome: 'succeeded', attempts: 1 }])
  })

  it('still answers changes while it drains', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: (_, { sleep }) => sleep(5_000) } })
    const { spec } = await world.schedule()
    const far = await world.schedule({ when: { kind: 'after', delayMs: 900_000 } })
    const drained = world.scheduler.drain(60_000)
    expect(world.scheduler.snapshot().draining).toBe(true)
    await world.cancel(spec.id)
    await world.cancel(far.spec.id)
    expect(await drained).toBe(true)
    expect(world.task(far.spec.id).state).toBe('cancelled')
  })
})

describe('a start that is held', () => {
  it('dispatches nothing until it is released', async () => {
    const world = await SchedulerWorld.start({ scheduler: { hold: true } })
    const { spec } = await world.schedule()
    await world.clock.advance(60_000)
    expect(world.task(spec.id).state).toBe('scheduled')
    world.scheduler.release()
    await world.clock.settle()
    expect(world.result(spec.id).outcome).toBe('succeeded')
  })
})
