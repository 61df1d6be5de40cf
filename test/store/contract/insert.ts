import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NewTask, Task } from '../../../server/task/task.js'
import { anyNewTask } from '../any-task.js'
import { created, idsOf, only, type StoreWorld } from '../store-world.js'
import { ending, named, newTask, START } from '../stored-tasks.js'

const UUID = '018f0c1e-7a2b-7c3d-8e4f-0123456789ab'

/** Tasks as they were before the store numbered them. */
const unnumbered = (tasks: readonly Task[]): NewTask[] =>
  tasks.map((task) => {
    const { arrival, ...rest } = task
    expect(arrival).toBeGreaterThan(0)
    return rest
  })

export function insertContract(world: () => StoreWorld): void {
  describe('insert', () => {
    it('keeps new tasks and answers each in order, numbered by arrival', async () => {
      const given = [named('b'), named('a'), named('c')]
      const tasks = await world().add(given)
      expect(unnumbered(tasks)).toEqual(given)
      const arrivals = tasks.map(({ arrival }) => arrival)
      expect(arrivals).toEqual(arrivals.toSorted((a, b) => a - b))
      expect(new Set([0, ...arrivals]).size).toBe(4)
      expect(await world().store.get(['c', 'a', 'b'])).toEqual([tasks[2], tasks[1], tasks[0]])
    })

    it('gives tasks back exactly as they were given, whatever is in them', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(anyNewTask, { selector: ({ spec }) => spec.id, maxLength: 5 }),
          async (given) => {
            const fresh = given.filter(({ spec }) => !used.has(spec.id))
            for (const { spec } of fresh) used.add(spec.id)
            const tasks = await world().add(fresh, fresh.length % 2 === 0)
            expect(unnumbered(tasks)).toEqual(fresh)
            expect(await world().store.get(idsOf(tasks))).toEqual(tasks)
          },
        ),
        { numRuns: 50 },
      )
    })
    const used = new Set<string>()

    it('keeps nothing for an id that is remembered, and answers its task', async () => {
      const first = await world().addOne(named('k', { spec: { payload: { kind: 'json', text: '1' } } }))
      const before = await world().store.stats()
      const again = named('k', { spec: { payload: { kind: 'json', text: '2' } } })
      const answer = only(await world().store.insert([{ task: again, near: true }]))
      expect(answer).toEqual({ kind: 'exists', task: first, logPosition: 0 })
      expect((await world().store.stats()).states).toEqual(before.states)
      expect(await world().get('k')).toEqual(first)
    })

    it('answers the id of a task that has ended with the task as it ended', async () => {
      const task = await world().addOne(named('k'))
      const end = ending(task, 'failed')
      await world().store.update([end])
      const answer = only(await world().store.insert([{ task: named('k'), near: false }]))
      expect(answer).toMatchObject({ kind: 'exists', task: end.task })
    })

    it('keeps the first of two tasks with one id in one call', async () => {
      const [a, b, again] = await world().store.insert(
        [named('a', { requestId: 'first' }), named('b'), named('a', { requestId: 'second' })].map((task) => ({
          task,
          near: true,
        })),
      )
      expect([a?.kind, b?.kind, again?.kind]).toEqual(['created', 'created', 'exists'])
      expect(again?.task).toEqual(a?.task)
      expect((await world().get('a'))?.requestId).toBe('first')
    })

    it('keeps the first when the two differ in where they wait', async () => {
      const [first, second] = await world().store.insert([
        { task: named('a'), near: false },
        { task: named('a'), near: true },
      ])
      expect([first?.kind, second?.kind]).toEqual(['created', 'exists'])
      expect(idsOf(await world().store.takeWindow({ now: START, through: START, limit: 10 }))).toEqual(['a'])
    })

    it('creates one task when fifty calls with its id race', async () => {
      const calls = Array.from({ length: 50 }, () => world().store.insert([{ task: named('k'), near: true }]))
      const answers = (await Promise.all(calls)).map(only)
      expect(answers.filter(({ kind }) => kind === 'created')).toHaveLength(1)
      expect(new Set(answers.map(({ task }) => task.arrival)).size).toBe(1)
      expect((await world().store.stats()).states.scheduled).toBe(1)
    })

    it('takes ids by their bytes: what differs in one is another task', async () => {
      const ids = [
        'A',
        'a',
        'k',
        'k.',
        UUID,
        UUID.toUpperCase(),
        UUID.replaceAll('-', ''),
        `${UUID}0`,
        '0',
        '00',
      ]
      const tasks = await world().add(ids.map((id) => named(id)))
      expect(new Set(tasks.map(({ arrival }) => arrival)).size).toBe(ids.length)
      expect(idsOf((await world().store.get(ids)).map((task) => task ?? (newTask() as never)))).toEqual(ids)
      const again = await world().store.insert(ids.map((id) => ({ task: named(id), near: true })))
      expect(again.map(({ kind, task }) => [kind, task.arrival])).toEqual(
        tasks.map(({ arrival }) => ['exists', arrival]),
      )
    })

    it('says where in the log the results of a new task begin', async () => {
      const [before, after] = [await world().addOne(named('before')), named('after')]
      await world().store.update([ending(before)])
      const answer = only(await world().store.insert([{ task: after, near: true }]))
      await world().store.update([ending(created(answer))])
      const result = (await world().log()).find(({ taskId }) => taskId === 'after')
      expect(answer.logPosition).toBe(1)
      expect(result?.position).toBe(2)
    })

    it('takes effect in the order of the calls, among themselves and with others', async () => {
      const { store } = world()
      const calls = [
        store.get(['k']),
        store.insert([{ task: named('k'), near: true }]),
        store.get(['k']),
        store.insert([{ task: named('k'), near: true }]),
      ] as const
      const [none, first, found, second] = await Promise.all(calls)
      expect(none).toEqual([undefined])
      expect(only(first).kind).toBe('created')
      expect(found).toEqual([only(first).task])
      expect(only(second).kind).toBe('exists')
    })

    it('does nothing when it is given nothing', async () => {
      expect(await world().store.insert([])).toEqual([])
      expect(await world().store.update([])).toEqual([])
      expect(await world().store.get([])).toEqual([])
      await world().store.start([])
      await world().store.giveBack([])
    })
  })
}
