import { describe, expect, it } from 'vitest'
import type { Task } from '../../../server/task/task.js'
import { comparable, type StoreKind, type StoreWorld } from '../store-world.js'
import { ending, named, newTask, nextRun, START } from '../stored-tasks.js'

export function restartContract(world: () => StoreWorld, { survives }: StoreKind): void {
  describe('a store that is opened for the first time', () => {
    it('holds nothing, and calls that a clean stop', () => {
      expect(world().recovery).toMatchObject({ tasks: [], cleanStop: true })
      expect(world().recovery.logId).toMatch(/^.{5,64}$/)
    })
  })

  describe.each(survives)('after a %s', (how) => {
    const again = () => world()[how]()

    it('says whether the process before had closed the store', async () => {
      expect((await again()).cleanStop).toBe(how === 'restart')
      expect((await again()).cleanStop).toBe(how === 'restart')
    })

    it('names the same log', async () => {
      const { logId } = world().recovery
      expect((await again()).logId).toBe(logId)
    })

    it('knows when the last change was, as its clock had said', async () => {
      await world().add([named('a')])
      world().now = START + 5_000
      const [b] = (await world().add([named('b')])) as [Task]
      expect((await again()).lastChange).toBe(START + 5_000)
      world().now = START + 7_000
      await world().store.update([ending(b)])
      world().now = START
      expect((await again()).lastChange).toBe(START + 7_000)
    })

    it('gives the tasks that a scheduler held, as they were last stored, and no others', async () => {
      const [near, running, over] = (await world().add([named('near'), named('running'), named('over')])) as [
        Task,
        Task,
        Task,
      ]
      const [taken] = (await world().add([named('taken')], false)) as [Task]
      await world().store.takeWindow({ now: START, through: START, limit: 1 })
      const [back] = (await world().add([named('back')], true)) as [Task]
      await world().store.giveBack([back.arrival])
      await world().add([named('far', { dueTime: START + 90_000 })], false)
      await world().store.start([{ arrival: running.arrival, startId: 4, startTimeUs: 6, attempts: 1 }])
      await world().store.update([ending(over)])
      const { tasks } = await again()
      expect(tasks.toSorted((a, b) => a.arrival - b.arrival)).toEqual([
        near,
        { ...running, state: 'running', startId: 4, startTimeUs: 6, attempts: 1 },
        taken,
      ])
      expect(await world().store.nextWaiting()).toBe(START)
    })

    it('knows every task and every result that it knew', async () => {
      const [a, b, c] = (await world().add([named('a'), named('b'), named('c')])) as [Task, Task, Task]
      const next = nextRun(b)
      await world().store.update([ending(a, 'failed'), next])
      const tasks = [ending(a, 'failed').task, next.task, c]
      const log = comparable(await world().log())
      await again()
      expect(await world().store.get(['a', 'b', 'c'])).toEqual(tasks)
      expect(
        (await world().store.list({ states: [], handlers: [], labels: {}, limit: 9 })).tasks,
      ).toHaveLength(3)
      expect(comparable(await world().log())).toEqual(log)
      expect((await world().store.findResult('a'))?.position).toBe(1)
      expect((await world().store.findResult('b', 1))?.position).toBe(2)
      expect(await world().store.insert([{ task: named('a'), near: true }])).toMatchObject([
        { kind: 'exists', task: tasks[0] },
      ])
    })

    it('keeps its counts', async () => {
      const [a] = (await world().add([named('a'), named('b')])) as [Task]
      await world().store.update([ending(a)])
      const { states, logEntries, earliest, latest } = await world().store.stats()
      await again()
      expect(await world().store.stats()).toMatchObject({ states, logEntries, earliest, latest })
    })

    it('uses no number twice: arrivals, start ids, positions', async () => {
      const [a, b] = (await world().add([named('a'), named('b')])) as [Task, Task]
      await world().store.update([ending(a), ending(b)])
      const first = await world().store.reserveStartIds(100)
      await again()
      const c = await world().addOne(named('c'))
      expect(c.arrival).toBeGreaterThan(b.arrival)
      expect(await world().store.reserveStartIds(1)).toBeGreaterThanOrEqual(first + 100)
      await world().store.update([ending(c)])
      expect((await world().log()).map(({ position }) => position)).toEqual([1, 2, 3])
    })

    it('goes on with its commit times, even if the wall clock was set back meanwhile', async () => {
      const [a, b] = (await world().add([newTask(), newTask()])) as [Task, Task]
      await world().store.update([ending(a)])
      world().now = START - 60_000
      await again()
      await world().store.update([ending(b)])
      expect((await world().log()).map(({ commitTime }) => commitTime)).toEqual([START, START])
    })

    it('refuses what belongs to the process before: its late ends do not count', async () => {
      const task = await world().addOne(named('a'))
      await world().store.start([{ arrival: task.arrival, startId: 5, startTimeUs: 1, attempts: 1 }])
      await again()
      await world().store.start([{ arrival: task.arrival, startId: 6, startTimeUs: 2, attempts: 2 }])
      const [late] = await world().store.update([ending({ ...task, startId: 5 })])
      expect(late?.kind).toBe('refused')
      expect(await world().store.update([ending({ ...task, startId: 6 })])).toEqual([{ kind: 'stored' }])
    })
  })
}
