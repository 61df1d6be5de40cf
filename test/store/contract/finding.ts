import { describe, expect, it } from 'vitest'
import type { LogEntry, TaskQuery } from '../../../server/store/task-store.js'
import type { EndState, Task } from '../../../server/task/task.js'
import { comparable, idsOf, type StoreWorld } from '../store-world.js'
import { ending, named, newTask, nextRun, resultOf, START } from '../stored-tasks.js'

export function findingContract(world: () => StoreWorld): void {
  const query = (given: Partial<TaskQuery> = {}): TaskQuery => ({
    states: [],
    handlers: [],
    labels: {},
    limit: 100,
    ...given,
  })
  const list = async (given: Partial<TaskQuery> = {}): Promise<string[]> =>
    idsOf((await world().store.list(query(given))).tasks)
  /** All pages; `between` happens after each. */
  const pages = async (given: Partial<TaskQuery>, between?: () => Promise<unknown>): Promise<string[][]> => {
    const found: string[][] = []
    let after: TaskQuery['after']
    do {
      const page = await world().store.list(query({ ...given, ...(after && { after }) }))
      found.push(idsOf(page.tasks))
      after = page.next
      await between?.()
    } while (after)
    return found
  }
  const end = (task: Task | undefined, state: EndState): Promise<unknown> =>
    world().store.update([ending(task as Task, state)])

  describe('list', () => {
    it('orders tasks by due time, then id, wherever they are: held, waiting or ended', async () => {
      await world().add([named('d', { dueTime: START + 3 }), named('b', { dueTime: START + 1 })], true)
      await world().add([named('c', { dueTime: START + 1 }), named('e', { dueTime: START + 4 })], false)
      const [a, f] = await world().add(
        [named('a', { dueTime: START + 1 }), named('f', { dueTime: START + 5 })],
        true,
      )
      await end(a, 'succeeded')
      await end(f, 'failed')
      expect(await list()).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
      expect(await pages({ limit: 1 })).toEqual([['a'], ['b'], ['c'], ['d'], ['e'], ['f']])
    })

    it('shows whole tasks, as they are stored', async () => {
      const [a] = await world().add([named('a')], true)
      const [b] = await world().add([named('b')], false)
      const ended = ending(a as Task, 'failed').task
      await end(a, 'failed')
      expect((await world().store.list(query())).tasks).toEqual([ended, b])
    })

    it('pages through tasks that are due at the same instant: none twice, none left out', async () => {
      const tasks = await world().add(Array.from({ length: 25 }, () => newTask()))
      const found = await pages({ limit: 10 })
      expect(found.map(({ length }) => length)).toEqual([10, 10, 5])
      expect(found.flat().toSorted()).toEqual(idsOf(tasks).toSorted())
    })

    it('ends without an empty page when the last one is full', async () => {
      await world().add(Array.from({ length: 20 }, () => newTask()))
      expect((await pages({ limit: 10 })).map(({ length }) => length)).toEqual([10, 10])
    })

    it('leaves out none of the old ones while new ones come in and others end', async () => {
      const tasks = await world().add(Array.from({ length: 25 }, () => newTask()))
      let page = 0
      const found = await pages({ limit: 10 }, async () => {
        if (page === 5) return
        await end(tasks[page++], 'succeeded')
        await world().add(Array.from({ length: 100 }, () => newTask()))
      })
      expect(new Set(found.flat()).size).toBe(found.flat().length)
      expect(found.flat()).toEqual(expect.arrayContaining(idsOf(tasks)))
    })

    it('pages over ids of every form: UUIDs and texts', async () => {
      const ids = [
        '018f0c1e-7a2b-7c3d-8e4f-0123456789ab',
        '018F0C1E-7A2B-7C3D-8E4F-0123456789AB',
        'z',
        'A',
        '0',
        'ffffffff-ffff-4fff-bfff-ffffffffffff',
        '00000000-0000-4000-8000-000000000000',
        '-',
        '~',
      ]
      await world().add(
        ids.slice(0, 5).map((id) => named(id)),
        true,
      )
      const others = await world().add(
        ids.slice(5).map((id) => named(id)),
        false,
      )
      await end(others[0], 'succeeded')
      expect((await pages({ limit: 2 })).flat().toSorted()).toEqual(ids.toSorted())
    })

    it('filters by state', async () => {
      const [a, b, c, d, e] = await world().add(['a', 'b', 'c', 'd', 'e', 'f'].map((id) => named(id)))
      await end(a, 'succeeded')
      await end(b, 'failed')
      await end(c, 'cancelled')
      await end(d, 'expired')
      await world().store.start([{ arrival: (e as Task).arrival, startId: 1, startTimeUs: 1, attempts: 1 }])
      expect(await list({ states: ['failed'] })).toEqual(['b'])
      expect(await list({ states: ['succeeded'] })).toEqual(['a'])
      expect(await list({ states: ['cancelled', 'expired', 'running'] })).toEqual(['c', 'd', 'e'])
      expect(await list({ states: ['scheduled', 'succeeded'] })).toEqual(['a', 'f'])
    })

    it('filters by handler, also of one that no task has', async () => {
      const [a] = await world().add([
        named('a', { spec: { handler: 'x' } }),
        named('b', { spec: { handler: 'y' } }),
      ])
      await end(a, 'failed')
      await world().add([named('c', { spec: { handler: 'x' } })], false)
      expect(await list({ handlers: ['x'] })).toEqual(['a', 'c'])
      expect(await list({ handlers: ['x'], states: ['failed'] })).toEqual(['a'])
      expect(await list({ handlers: ['y', 'never-heard-of'] })).toEqual(['b'])
      expect(await list({ handlers: ['never-heard-of'] })).toEqual([])
    })

    it('filters by labels: all of them must be there', async () => {
      const labelled = (id: string, labels: Record<string, string>) => named(id, { spec: { labels } })
      const [a] = await world().add([
        labelled('a', { team: 'x', kind: '1' }),
        labelled('b', { team: 'x' }),
        labelled('c', { team: 'y' }),
        labelled('d', {}),
      ])
      await end(a, 'succeeded')
      expect(await list({ labels: { team: 'x' } })).toEqual(['a', 'b'])
      expect(await list({ labels: { team: 'x', kind: '1' } })).toEqual(['a'])
      expect(await list({ labels: { toString: 'x' } })).toEqual([])
    })

    it('filters by due time: from inclusive, before exclusive', async () => {
      await world().add([1, 2, 3, 4].map((due) => named(`t${due}`, { dueTime: START + due })))
      expect(await list({ dueFrom: START + 2, dueBefore: START + 4 })).toEqual(['t2', 't3'])
      expect(await list({ dueFrom: START + 5 })).toEqual([])
    })

    it('pages through a filter that leaves out much', async () => {
      const kept = (i: number) => i % 7 === 0
      await world().add(
        Array.from({ length: 100 }, (_, i) =>
          named(`t${String(i).padStart(3, '0')}`, { spec: { labels: kept(i) ? { keep: 'yes' } : {} } }),
        ),
      )
      const found = await pages({ limit: 4, labels: { keep: 'yes' } })
      expect(found.flat()).toEqual(
        [0, 7, 14, 21, 28, 35, 42, 49, 56, 63, 70, 77, 84, 91, 98].map(
          (i) => `t${String(i).padStart(3, '0')}`,
        ),
      )
    })
  })

  describe('lookUp', () => {
    it('finds a task and its newest result, wherever the task is: held, waiting, recurring or ended', async () => {
      const held = await world().addOne(named('held'))
      const [waiting] = await world().add([named('waiting')], false)
      expect(await world().store.lookUp('held')).toEqual({ task: held, result: undefined })
      expect(await world().store.lookUp('waiting')).toEqual({ task: waiting, result: undefined })
      const next = nextRun(held)
      await world().store.update([next])
      expect(await world().store.lookUp('held')).toMatchObject({ task: next.task, result: { run: 1 } })
      const last = ending(next.task, 'failed')
      await world().store.update([last])
      expect(await world().store.lookUp('held')).toMatchObject({ task: last.task, result: { run: 2 } })
    })

    it('finds nothing of a task that nobody knows', async () => {
      expect(await world().store.lookUp('nobody')).toEqual({ task: undefined, result: undefined })
    })

    it('knows what was acknowledged, of a handler that it did not know before, too', async () => {
      await world().store.lookUp('nobody')
      const task = await world().addOne(named('a', { spec: { handler: 'new here' } }))
      expect(await world().store.lookUp('a')).toEqual({ task, result: undefined })
    })
  })

  describe('findResult', () => {
    it('finds the result of a one-shot task, and that of its run', async () => {
      const task = await world().addOne(named('a'))
      expect(await world().store.findResult('a')).toBeUndefined()
      await end(task, 'failed')
      const entry = await world().store.findResult('a')
      expect(entry).toMatchObject({
        taskId: 'a',
        run: 1,
        outcome: 'failed',
        position: 1,
        kind: 'result',
        commitTime: START,
      })
      expect((await world().store.findResult('a', 1))?.position).toBe(1)
      expect(await world().store.findResult('a', 2)).toBeUndefined()
      expect(comparable([entry as LogEntry])).toEqual(comparable(await world().log()))
    })

    it('knows no result of a task that nobody knows', async () => {
      expect(await world().store.findResult('nobody')).toBeUndefined()
    })

    it('finds the newest result of a recurring task, and that of each run', async () => {
      let task = await world().addOne(named('a'))
      for (let run = 1; run <= 3; run++) {
        const transition = nextRun(task)
        await world().store.update([transition])
        task = transition.task
      }
      expect((await world().store.findResult('a'))?.run).toBe(3)
      expect((await world().store.findResult('a', 2))?.position).toBe(2)
      await end(task, 'cancelled')
      expect((await world().store.findResult('a'))?.run).toBe(4)
      expect((await world().store.findResult('a', 1))?.position).toBe(1)
    })

    it('finds all of several results that came in one call', async () => {
      const task = await world().addOne(named('a'))
      const next = nextRun(task)
      const skipped = resultOf(next.task, { outcome: 'skipped' })
      const last = ending({ ...next.task, run: 3 }, 'expired')
      await world().store.update([next, { ...last, entries: [skipped, ...last.entries] }])
      const runs = await Promise.all([1, 2, 3].map((run) => world().store.findResult('a', run)))
      expect(runs.map((entry) => entry?.outcome)).toEqual(['succeeded', 'skipped', 'expired'])
    })
  })
}
