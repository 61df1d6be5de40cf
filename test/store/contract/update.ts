import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Task } from '../../../server/task/task.js'
import { anyLaterState, anyNewTask } from '../any-task.js'
import { idsOf, only, type StoreWorld } from '../store-world.js'
import { backOff, ending, named, nextRun, resultOf, START } from '../stored-tasks.js'

export function updateContract(world: () => StoreWorld): void {
  const started = (task: Task, startId: number): Task => ({
    ...task,
    state: 'running',
    startId,
    startTimeUs: 5,
    attempts: 1,
  })
  const start = (task: Task, startId: number): Promise<void> =>
    world().store.start([{ arrival: task.arrival, startId, startTimeUs: 5, attempts: 1 }])

  describe('start', () => {
    it('shows that an attempt has begun', async () => {
      const task = await world().addOne(named('a'))
      await start(task, 7)
      expect(await world().get('a')).toEqual(started(task, 7))
    })

    it('changes nothing when a newer start is stored, the task has ended, or nobody knows it', async () => {
      const [a, b] = await world().add([named('a'), named('b')])
      await start(a as Task, 7)
      await start(a as Task, 6)
      const end = ending(b as Task)
      await world().store.update([end])
      await start(b as Task, 9)
      await start({ ...(a as Task), arrival: 999_999 }, 1)
      expect(await world().store.get(['a', 'b'])).toEqual([started(a as Task, 7), end.task])
      expect((await world().store.stats()).states).toMatchObject({ running: 1, succeeded: 1, scheduled: 0 })
    })

    it('keeps what it does not speak of', async () => {
      const given = named('a', { interruptions: 2, suspicions: 1, requestId: 'r', run: 3, attempts: 4 })
      const task = await world().addOne(given)
      await world().store.start([{ arrival: task.arrival, startId: 7, startTimeUs: 5, attempts: 5 }])
      expect(await world().get('a')).toEqual({
        ...task,
        state: 'running',
        startId: 7,
        startTimeUs: 5,
        attempts: 5,
      })
    })
  })

  describe('update', () => {
    it('stores any later state exactly, live and ended', async () => {
      await fc.assert(
        fc.asyncProperty(anyNewTask, fc.gen(), async (given, gen) => {
          if (await world().get(given.spec.id)) return
          const task = await world().addOne(given)
          const live = gen(anyLaterState, task, fc.constantFrom('scheduled' as const, 'running' as const), {
            newSpec: true,
          })
          expect(await world().store.update([{ task: live, entries: [] }])).toEqual([{ kind: 'stored' }])
          expect(await world().get(task.spec.id)).toEqual(live)
          const state = fc.constantFrom(
            'succeeded' as const,
            'failed' as const,
            'cancelled' as const,
            'expired' as const,
          )
          const last = gen(anyLaterState, live, state, { newSpec: true })
          const ended = { ...last, startId: live.startId }
          await world().store.update([{ task: ended, entries: [resultOf(ended)] }])
          expect(await world().get(task.spec.id)).toEqual(ended)
        }),
        { numRuns: 100 },
      )
    })

    it('refuses, alone, what belongs to an older start', async () => {
      const [a, b] = (await world().add([named('a'), named('b')])) as [Task, Task]
      await start(a, 7)
      const late = ending({ ...a, startId: 6 })
      const answers = await world().store.update([late, ending(b)])
      expect(answers).toEqual([{ kind: 'refused', stored: started(a, 7) }, { kind: 'stored' }])
      expect((await world().log()).map(({ taskId }) => taskId)).toEqual(['b'])
      expect(await world().get('a')).toEqual(started(a, 7))
    })

    it('accepts the end of a start that was never noted', async () => {
      const task = await world().addOne(named('a'))
      const end = ending(task, 'succeeded', { startId: 9, attempts: 1 })
      expect(await world().store.update([end])).toEqual([{ kind: 'stored' }])
      expect(await world().get('a')).toEqual(end.task)
    })

    it('refuses a second end, however late, and what nobody knows', async () => {
      const task = await world().addOne(named('a'))
      const end = ending(task, 'failed', { startId: 9 })
      await world().store.update([end])
      const later = ending(task, 'succeeded', { startId: 10 })
      const unknown = ending({ ...task, arrival: 999_999 })
      expect(await world().store.update([later, unknown])).toEqual([
        { kind: 'refused', stored: end.task },
        { kind: 'refused', stored: undefined },
      ])
      expect(await world().log()).toHaveLength(1)
    })

    it('sees, in one call, what came before in it', async () => {
      const task = await world().addOne(named('a'))
      const [first, second] = [nextRun(task), ending(task, 'cancelled')]
      const answers = await world().store.update([first, second, ending(task, 'failed')])
      expect(answers).toEqual([
        { kind: 'stored' },
        { kind: 'stored' },
        { kind: 'refused', stored: second.task },
      ])
      expect((await world().log()).map(({ outcome }) => outcome)).toEqual(['succeeded', 'cancelled'])
    })

    it('takes effect in the order of the calls', async () => {
      const task = await world().addOne(named('a'))
      const { store } = world()
      const [, found, answer, ended] = await Promise.all([
        start(task, 3),
        store.get(['a']),
        store.update([ending({ ...task, startId: 3 })]),
        store.get(['a']),
      ])
      expect(only(found)?.state).toBe('running')
      expect(answer).toEqual([{ kind: 'stored' }])
      expect(only(ended)?.state).toBe('succeeded')
    })

    it('stores a pause of a waiting task where it waits', async () => {
      const task = await world().addOne(named('a'), false)
      await world().store.update([{ task: { ...task, paused: true }, entries: [] }])
      expect((await world().get('a'))?.paused).toBe(true)
      expect(await world().store.takeWindow({ now: START, through: START, limit: 1 })).toEqual([])
      await world().store.update([{ task, entries: [] }])
      expect(await world().store.takeWindow({ now: START, through: START, limit: 1 })).toEqual([task])
    })

    it('ends a task that no scheduler holds', async () => {
      const task = await world().addOne(named('a'), false)
      const end = ending(task, 'cancelled')
      expect(await world().store.update([end])).toEqual([{ kind: 'stored' }])
      expect(await world().get('a')).toEqual(end.task)
      expect(await world().store.takeWindow({ now: START, through: START, limit: 1 })).toEqual([])
    })

    it('writes all entries of a transition, in order', async () => {
      const task = await world().addOne(named('a'))
      const skipped = resultOf(task, { run: 2, outcome: 'skipped', skippedCount: 4 })
      const next = nextRun(task)
      await world().store.update([{ ...next, entries: [...next.entries, skipped] }])
      expect((await world().log()).map(({ run, outcome }) => [run, outcome])).toEqual([
        [1, 'succeeded'],
        [2, 'skipped'],
      ])
    })
  })

  describe('a task that is opened again', () => {
    it('waits like a new one, and keeps its old results', async () => {
      const task = await world().addOne(named('a'))
      await world().store.update([ending(task, 'failed')])
      const again: Task = { ...task, run: 2, dueTime: START + 5, notBefore: START + 5 }
      expect(await world().store.update([{ task: again, entries: [], reopen: true }])).toEqual([
        { kind: 'stored' },
      ])
      expect(await world().get('a')).toEqual(again)
      expect(await world().store.nextWaiting()).toBe(START + 5)
      expect(idsOf(await world().store.takeWindow({ now: START, through: START + 5, limit: 5 }))).toEqual([
        'a',
      ])
      expect((await world().store.findResult('a', 1))?.outcome).toBe('failed')
      await world().store.update([ending(again)])
      expect((await world().store.findResult('a'))?.run).toBe(2)
      expect((await world().store.findResult('a', 1))?.outcome).toBe('failed')
    })

    it('may get another spec and end in the same call', async () => {
      const task = await world().addOne(named('a'))
      const spec = {
        ...task.spec,
        handler: 'other',
        priority: 5,
        payload: { kind: 'json', text: '{}' } as const,
      }
      const again: Task = { ...task, spec, run: 2 }
      const end = ending(again)
      const answers = await world().store.update([
        ending(task),
        { task: again, entries: [], reopen: true },
        end,
      ])
      expect(answers.map(({ kind }) => kind)).toEqual(['stored', 'stored', 'stored'])
      expect(await world().get('a')).toEqual(end.task)
      expect((await world().store.stats()).states).toMatchObject({ scheduled: 0, succeeded: 1 })
    })
  })

  it('keeps the results of attempts and of runs apart', async () => {
    const task = await world().addOne(named('a'))
    await world().store.update([backOff(task, START + 1_000)])
    expect(await world().store.findResult('a')).toBeUndefined()
    await world().store.update([nextRun(task)])
    expect((await world().store.findResult('a'))?.run).toBe(1)
  })
}
