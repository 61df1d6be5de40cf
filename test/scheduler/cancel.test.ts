import { describe, expect, it } from 'vitest'
import { TaskEndedError, TaskNotFoundError } from '../../server/task/errors.js'
import { errorOf, SchedulerWorld, taskOf, type Work } from '../support/scheduler-world.js'

const sleeps =
  (ms: number): Work =>
  (_, { sleep }) =>
    sleep(ms)

/** Never stops, whatever it is told. */
const deaf: Work = () => new Promise(() => {})

describe('cancelling a waiting task', () => {
  it('answers CANCELLED when that is on disk, and it never starts', async () => {
    const world = await SchedulerWorld.start()
    const { spec } = await world.schedule({ when: { kind: 'after', delayMs: 1_000 } })
    expect(taskOf(await world.cancel(spec.id)).state).toBe('cancelled')
    expect(world.task(spec.id).state).toBe('cancelled')
    await world.clock.advance(10_000)
    expect(world.starts).toEqual([])
    expect(world.result(spec.id)).toMatchObject({
      outcome: 'cancelled',
      cancelStage: 'neverStarted',
      last: true,
    })
  })

  it('reaches one that is not in memory', async () => {
    const world = await SchedulerWorld.start()
    const { spec } = await world.schedule({ when: { kind: 'after', delayMs: 86_400_000 } })
    expect(world.scheduler.snapshot().near).toBe(0)
    expect(taskOf(await world.cancel(spec.id)).state).toBe('cancelled')
    await world.clock.advance(100_000_000)
    expect(world.starts).toEqual([])
  })

  it('that backs off ends the run', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: () => Promise.reject(new Error('no')) } })
    const { spec } = await world.schedule({ retry: { maxAttempts: 9 } })
    expect(world.task(spec.id)).toMatchObject({ state: 'scheduled', attempts: 1 })
    expect(taskOf(await world.cancel(spec.id)).state).toBe('cancelled')
    await world.clock.advance(60_000)
    expect(world.starts).toHaveLength(1)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'cancelled', attempts: 1 })
  })

  it('holds it back while the cancel is on its way to the disk, although it falls due', async () => {
    const world = await SchedulerWorld.start({ commitMs: 50 })
    const [task] = await world.scheduleAll([{ when: { kind: 'after', delayMs: 100 } }])
    const id = task?.spec.id ?? ''
    await world.clock.advance(30)
    const answers = world.scheduler.cancel([id], 0)
    await world.clock.advance(40)
    expect(world.task(id).state).toBe('scheduled')
    await world.clock.advance(10)
    expect((await answers)[0]).toMatchObject({ state: 'cancelled' })
    await world.clock.advance(1_000)
    expect(world.starts).toEqual([])
  })
})

describe('cancelling a running task', () => {
  it('answers RUNNING with cancel_requested; the outcome is CANCELLED', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps(60_000) } })
    const { spec } = await world.schedule()
    const answer = taskOf(await world.cancel(spec.id))
    expect(answer).toMatchObject({ state: 'running', cancelRequested: true })
    expect(world.result(spec.id)).toMatchObject({
      outcome: 'cancelled',
      cancelStage: 'cooperative',
      attempts: 1,
    })
    expect(world.task(spec.id).state).toBe('cancelled')
  })

  it('decides the outcome although the handler returns after it', async () => {
    const ignoresAbort: Work = (_, { sleep }) => sleep(500).catch(() => 'done')
    const world = await SchedulerWorld.start({ handlers: { work: ignoresAbort } })
    const { spec } = await world.schedule()
    await world.cancel(spec.id, 60_000)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'cancelled', output: { kind: 'none' } })
  })

  it('C058: one that does not listen is stopped by force after its grace, and its slot is free', async () => {
    const world = await SchedulerWorld.start({ handlers: { deaf, work: () => 1 }, slots: { thread: 1 } })
    const { spec } = await world.schedule({ handler: 'deaf' })
    const next = await world.schedule()
    await world.cancel(spec.id, 1_000)
    await world.clock.advance(999)
    expect(world.task(spec.id)).toMatchObject({ state: 'running', cancelRequested: true })
    await world.clock.advance(1)
    expect(world.result(spec.id)).toMatchObject({ outcome: 'cancelled', cancelStage: 'terminated' })
    expect(world.result(next.spec.id).outcome).toBe('succeeded')
  })

  it('C060: touches no other task', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps(2_000) }, slots: { thread: 2 } })
    const tasks = await world.scheduleAll([{}, {}, {}, {}])
    const [first, ...others] = tasks.map(({ spec }) => spec.id)
    await world.cancel(first ?? '')
    await world.clock.advance(10_000)
    expect(others.map((id) => world.result(id))).toMatchObject(
      others.map(() => ({ outcome: 'succeeded', attempts: 1 })),
    )
    expect(world.result(first ?? '').outcome).toBe('cancelled')
  })

  it('in the shared lane gives it up after its grace; its slot and key are free only when it has really ended', async () => {
    let release: () => void = () => {}
    const waits: Work = () => new Promise<void>((resolve) => (release = resolve))
    const world = await SchedulerWorld.start({
      handlers: { waits, work: () => 1 },
      handlerInfo: { waits: { lane: 'shared' }, work: { lane: 'shared' } },
      slots: { shared: 1 },
    })
    const stopped = await world.schedule({ handler: 'waits', concurrencyKey: 'k' })
    const next = await world.schedule({ concurrencyKey: 'k' })
    await world.cancel(stopped.spec.id, 500)
    await world.clock.advance(500)
    expect(world.result(stopped.spec.id)).toMatchObject({ outcome: 'cancelled', cancelStage: 'terminated' })
    await world.clock.advance(10_000)
    expect(world.startsOf(next.spec.id)).toEqual([])
    release()
    await world.clock.settle()
    expect(world.result(next.spec.id).outcome).toBe('succeeded')
    expect(world.scheduler.snapshot().lanes).toMatchObject([{ busy: 0 }, { lane: 'shared', busy: 0 }])
  })
})

describe('cancelling a member of a burst that has not begun', () => {
  it('is CANCELLED without ever starting, while its neighbour goes on', async () => {
    const world = await SchedulerWorld.start({ handlers: { work: sleeps(1) }, slots: { thread: 1 } })
    await world.schedule()
    await world.clock.advance(10)
    // measured work of 1 ms: both go into one burst
    const [first, second] = await world.scheduleAll([{}, {}])
    expect(world.task(second?.spec.id ?? '').state).toBe('scheduled')
    expect(taskOf(await world.cancel(second?.spec.id ?? '')).state).toBe('cancelled')
    await world.clock.advance(1_000)
    expect(world.result(first?.spec.id ?? '').outcome).toBe('succeeded')
    expect(world.result(second?.spec.id ?? '')).toMatchObject({ cancelStage: 'neverStarted', attempts: 0 })
    expect(world.startsOf(second?.spec.id ?? '')).toEqual([])
  })
})

describe('an answer of cancel', () => {
  it('C061: unknown id: not found', async () => {
    const world = await SchedulerWorld.start()
    expect(errorOf(await world.cancel('nobody'))).toBeInstanceOf(TaskNotFoundError)
  })

  it('C061: a task that has ended otherwise keeps its state', async () => {
    const world = await SchedulerWorld.start()
    const { spec } = await world.schedule()
    expect(errorOf(await world.cancel(spec.id))).toBeInstanceOf(TaskEndedError)
    expect(world.task(spec.id).state).toBe('succeeded')
    expect(world.results(spec.id)).toHaveLength(1)
  })

  it('C061: the second cancel is answered like the first and adds nothing', async () => {
    const world = await SchedulerWorld.start()
    const { spec } = await world.schedule({ when: { kind: 'after', delayMs: 1_000 } })
    const first = await world.cancel(spec.id)
    expect(await world.cancel(spec.id)).toEqual(first)
    expect(world.results(spec.id)).toHaveLength(1)
  })

  it('comes for each id in order, also when one is named many times', async () => {
    const world = await SchedulerWorld.start()
    const { spec } = await world.schedule({ when: { kind: 'after', delayMs: 1_000 } })
    const ids = [...Array.from({ length: 5_000 }, () => spec.id), 'nobody']
    const pending = world.scheduler.cancel(ids, 0)
    await world.clock.settle()
    const answers = await pending
    expect(answers.slice(0, 5_000).every((answer) => taskOf(answer).state === 'cancelled')).toBe(true)
    expect(answers[5_000]).toBeInstanceOf(TaskNotFoundError)
    expect(world.results(spec.id)).toHaveLength(1)
  })
})

describe('a cancel that races the start', () => {
  it('C056: what was answered CANCELLED has not run and never will; each task has one result', async () => {
    const ended: string[] = []
    const world = await SchedulerWorld.start({
      commitMs: 3,
      handlers: {
        work: async ({ taskId }, { sleep }) => {
          await sleep(50)
          ended.push(taskId)
        },
      },
    })
    const answers = new Map<string, Promise<readonly unknown[]>>()
    for (let i = 0; i < 100; i++) {
      // some at the very moment of the start, some a little earlier or later
      const [task] = await world.scheduleAll([{ when: { kind: 'after', delayMs: i % 7 } }])
      await world.clock.advance(i % 5)
      const id = task?.spec.id ?? ''
      answers.set(id, world.scheduler.cancel([id], 1_000))
      await world.clock.advance(i % 3)
    }
    await world.clock.advance(60_000)
    let neverRan = 0
    for (const [id, answer] of answers) {
      const { state } = world.task(id)
      expect(state).toBe('cancelled')
      expect(world.results(id)).toHaveLength(1)
      expect(ended).not.toContain(id)
      const [told] = await answer
      if ((told as { state: string }).state !== 'cancelled') continue
      neverRan++
      expect(world.startsOf(id)).toEqual([])
    }
    expect(neverRan).toBeGreaterThan(0)
    expect(neverRan).toBeLessThan(100)
  })
})
