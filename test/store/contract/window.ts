import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startKey } from '../../../server/task/start-order.js'
import type { Task } from '../../../server/task/task.js'
import { idsOf, type StoreWorld } from '../store-world.js'
import { named, START } from '../stored-tasks.js'

export function windowContract(world: () => StoreWorld): void {
  const take = async (through: number, limit = 100, now = START): Promise<string[]> =>
    idsOf(await world().store.takeWindow({ now, through, limit }))
  const waiting = (id: string, dueTime: number, priority = 0) => named(id, { dueTime, spec: { priority } })

  describe('the window', () => {
    it('hands out what waits and is due up to its edge, and nothing twice', async () => {
      await world().add(
        [waiting('at', START + 10), waiting('after', START + 11), waiting('before', START + 9)],
        false,
      )
      await world().add([waiting('near', START + 1)], true)
      expect(await take(START + 10)).toEqual(['before', 'at'])
      expect(await take(START + 10)).toEqual([])
      expect(await take(START + 11)).toEqual(['after'])
    })

    it('hands out whole tasks, as they are stored', async () => {
      const tasks = await world().add([waiting('a', START), waiting('b', START + 1, 7)], false)
      expect(await world().store.takeWindow({ now: START, through: START + 1, limit: 5 })).toEqual(tasks)
    })

    it('gives the due ones by start key, then the coming ones by time, whatever their priority', async () => {
      await world().add(
        [
          waiting('coming, high', START + 2_000, 100),
          waiting('coming, soon', START + 1_000),
          waiting('due late, high', START, 2),
          waiting('due early', START - 15_000),
          waiting('due late', START),
          waiting('due later, lower', START, -1),
        ],
        false,
      )
      expect(await take(START + 5_000)).toEqual([
        'due late, high',
        'due early',
        'due late',
        'due later, lower',
        'coming, soon',
        'coming, high',
      ])
    })

    it('takes the first by that order when not all fit', async () => {
      await world().add([waiting('c', START + 3), waiting('a', START - 1), waiting('b', START + 2)], false)
      expect(await take(START + 10, 2)).toEqual(['a', 'b'])
      expect(await take(START + 10, 2)).toEqual(['c'])
    })

    it('leaves out paused tasks until they are resumed', async () => {
      const [task] = (await world().add([named('a', { paused: true })], false)) as [Task]
      expect(await world().store.nextWaiting()).toBeUndefined()
      expect(await take(START)).toEqual([])
      await world().store.update([{ task: { ...task, paused: false }, entries: [] }])
      expect(await world().store.nextWaiting()).toBe(START)
      expect(await take(START)).toEqual(['a'])
    })

    it('hands out again what was given back, with what has been stored meanwhile', async () => {
      const [task] = (await world().add([waiting('a', START)], false)) as [Task]
      await take(START)
      await world().store.update([{ task: { ...task, notBefore: START + 50, attempts: 1 }, entries: [] }])
      expect(await world().store.nextWaiting()).toBeUndefined()
      await world().store.giveBack([task.arrival])
      expect(await world().store.nextWaiting()).toBe(START + 50)
      expect(await world().store.takeWindow({ now: START, through: START + 50, limit: 1 })).toEqual([
        { ...task, notBefore: START + 50, attempts: 1 },
      ])
    })

    it('takes back a task that was near from its first moment, and no task that has ended', async () => {
      const near = (await world().add([waiting('near', START + 1)], true)) as [Task]
      await world().store.giveBack([near[0].arrival, 999_999])
      expect(await world().store.nextWaiting()).toBe(START + 1)
    })

    it('tells the earliest of what waits, over all priorities', async () => {
      expect(await world().store.nextWaiting()).toBeUndefined()
      await world().add(
        [waiting('a', START + 9, -50), waiting('b', START + 7, 99), waiting('c', START + 8)],
        false,
      )
      expect(await world().store.nextWaiting()).toBe(START + 7)
    })

    it('follows a task whose priority or time was changed while it waited', async () => {
      const [a] = (await world().add([waiting('a', START + 5), waiting('b', START + 6)], false)) as [Task]
      const changed: Task = {
        ...a,
        spec: { ...a.spec, priority: 9 },
        dueTime: START + 90,
        notBefore: START + 90,
      }
      await world().store.update([{ task: changed, entries: [] }])
      expect(await take(START + 100)).toEqual(['b', 'a'])
    })

    it('gives the order of the rule, for any tasks and any pages', async () => {
      let round = 0
      const task = fc.record({
        due: fc.integer({ min: -40_000, max: 40_000 }),
        priority: fc.integer({ min: -2, max: 2 }),
      })
      await fc.assert(
        fc.asyncProperty(
          fc.array(task, { maxLength: 30 }),
          fc.integer({ min: 1, max: 12 }),
          async (given, limit) => {
            round += 1
            const tasks = await world().add(
              given.map(({ due, priority }, i) => waiting(`${round}/${i}`, START + due, priority)),
              false,
            )
            const order = (a: Task, b: Task): number => {
              const isDue = a.notBefore <= START
              if (isDue !== b.notBefore <= START) return isDue ? -1 : 1
              const key = (t: Task): number => (isDue ? startKey(t.notBefore, t.spec.priority) : t.notBefore)
              return key(a) - key(b) || a.arrival - b.arrival
            }
            const taken: string[] = []
            for (
              let page = await take(START + 30_000, limit);
              page.length > 0;
              page = await take(START + 30_000, limit)
            )
              taken.push(...page)
            const expected = tasks.filter(({ notBefore }) => notBefore <= START + 30_000).toSorted(order)
            expect(taken).toEqual(idsOf(expected))
            await take(START + 40_000)
          },
        ),
        { numRuns: 40 },
      )
    })
  })
}
