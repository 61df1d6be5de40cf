import { describe, expect, it } from 'vitest'
import type { PurgeRules, PurgeStep } from '../../../server/store/task-store.js'
import type { EndState, Task } from '../../../server/task/task.js'
import { created, idsOf, only, type StoreKind, type StoreWorld } from '../store-world.js'
import { backOff, ending, EVERYTHING, named, nextRun, START } from '../stored-tasks.js'

const HOUR = 3_600_000

export function retentionContract(world: () => StoreWorld, { survives }: StoreKind): void {
  /** Results are kept for an hour, failed ones for ten. */
  const rules = (given: Partial<PurgeRules> = {}): PurgeRules => {
    const { now } = world()
    const ten = now - 10 * HOUR
    const one = now - HOUR
    return {
      now,
      before: { succeeded: one, cancelled: one, skipped: one, failed: ten, timedOut: ten, expired: ten },
      maxBytes: 1e9,
      keepAfter: Number.MAX_SAFE_INTEGER,
      maxEntries: 1_000,
      ...given,
    }
  }
  const purge = (given: Partial<PurgeRules> = {}): Promise<PurgeStep> => world().store.purge(rules(given))
  /** A task that has ended at this moment; its id is remembered for `rememberIdForMs`. */
  const ended = async (
    id: string,
    state: EndState = 'succeeded',
    rememberIdForMs = 60_000,
  ): Promise<Task> => {
    const task = await world().addOne(named(id, { spec: { rememberIdForMs, handler: state } }))
    const { task: end, entries } = ending(task, state, { endTime: world().now })
    await world().store.update([{ task: end, entries }])
    return end
  }
  const after = (ms: number): void => {
    world().now = START + ms
  }
  const known = async (...ids: string[]): Promise<boolean[]> =>
    (await world().store.get(ids)).map((task) => task !== undefined)
  const listed = async (): Promise<string[]> =>
    idsOf((await world().store.list({ states: [], handlers: [], labels: {}, limit: 100 })).tasks)
  const logged = async (): Promise<string[]> => (await world().log()).map(({ taskId }) => taskId)

  describe('retention', () => {
    it('removes nothing before its time', async () => {
      await ended('a')
      after(HOUR)
      expect(await purge()).toEqual({ entries: 0, tasks: 0, more: false })
      expect(await known('a')).toEqual([true])
    })

    it('removes what is old enough: result, task and id; the log begins after it', async () => {
      await ended('old')
      after(HOUR)
      await ended('new')
      after(HOUR + 1)
      expect(await purge()).toEqual({ entries: 1, tasks: 1, more: false })
      expect(await known('old', 'new')).toEqual([false, true])
      expect(await listed()).toEqual(['new'])
      expect(await world().store.findResult('old')).toBeUndefined()
      expect(await logged()).toEqual(['new'])
      const { states, logEntries, earliest, latest } = await world().store.stats()
      expect({ states, logEntries, earliest, latest }).toMatchObject({
        states: { succeeded: 1 },
        logEntries: 1,
        earliest: 1,
        latest: 2,
      })
      const again = only(await world().store.insert([{ task: named('old'), near: true }]))
      expect(created(again).arrival).toBeGreaterThan(2)
    })

    it('keeps what failed for longer: found by task, no more in the log', async () => {
      const failed = await ended('failed', 'failed')
      await ended('succeeded')
      await ended('expired', 'expired')
      after(2 * HOUR)
      expect(await purge()).toMatchObject({ entries: 1, tasks: 1 })
      expect(await known('failed', 'succeeded', 'expired')).toEqual([true, false, true])
      expect(await world().get('failed')).toEqual(failed)
      expect((await world().store.findResult('failed'))?.outcome).toBe('failed')
      expect(await logged()).toEqual([])
      expect(await listed()).toEqual(['expired', 'failed'])
      expect(await world().store.stats()).toMatchObject({
        states: { failed: 1, expired: 1, succeeded: 0 },
        earliest: 3,
      })
      after(10 * HOUR + 1)
      expect(await purge()).toMatchObject({ entries: 2, tasks: 2 })
      expect(await listed()).toEqual([])
      expect((await world().store.stats()).resultBytes).toBe(0)
    })

    it('remembers an id for as long as its spec asks, with its task', async () => {
      const task = await ended('a', 'succeeded', 5 * HOUR)
      after(2 * HOUR)
      expect(await purge()).toMatchObject({ entries: 1, tasks: 0 })
      expect(await world().store.findResult('a')).toBeUndefined()
      expect(await world().get('a')).toEqual(task)
      expect(await listed()).toEqual(['a'])
      const answer = only(await world().store.insert([{ task: named('a'), near: true }]))
      expect(answer).toMatchObject({ kind: 'exists', task })
      after(5 * HOUR)
      expect(await purge()).toMatchObject({ tasks: 1 })
      expect(await known('a')).toEqual([false])
      expect((await world().store.stats()).states.succeeded).toBe(0)
    })

    it('remembers an id for as long as the result is kept, even if its spec asks for less', async () => {
      await ended('a', 'failed', 1)
      after(9 * HOUR)
      await purge()
      expect(only(await world().store.insert([{ task: named('a'), near: true }])).kind).toBe('exists')
    })

    it('removes the oldest when results take too many bytes, the failed ones last', async () => {
      for (const id of ['a', 'b', 'c']) await ended(id)
      await ended('failed', 'failed')
      await ended('d')
      const { resultBytes } = await world().store.stats()
      await purge({ maxBytes: Math.floor((resultBytes * 3.5) / 5) })
      expect(await logged()).toEqual(['c', 'failed', 'd'])
      await purge({ maxBytes: Math.floor((resultBytes * 1.5) / 5) })
      expect(await logged()).toEqual([])
      expect((await world().store.findResult('failed'))?.outcome).toBe('failed')
      await purge({ maxBytes: 0 })
      expect(await world().store.findResult('failed')).toBeUndefined()
      expect((await world().store.stats()).resultBytes).toBe(0)
      // their ids are still remembered
      expect(await listed()).toEqual(['a', 'b', 'c', 'd', 'failed'])
    })

    it('keeps what somebody has still to read, whatever its age and size', async () => {
      for (const id of ['a', 'b', 'c']) await ended(id)
      after(20 * HOUR)
      await purge({ keepAfter: 1, maxBytes: 0 })
      expect(await logged()).toEqual(['b', 'c'])
      expect((await world().store.stats()).earliest).toBe(1)
      await purge({ keepAfter: 3 })
      expect(await logged()).toEqual([])
    })

    it('removes results and attempts of a task that lives on, and leaves the task', async () => {
      let task = await world().addOne(named('a'))
      for (const transition of [nextRun, (open: Task) => backOff(open, START + 1), nextRun]) {
        const change = transition(task)
        await world().store.update([change])
        task = change.task
      }
      after(20 * HOUR)
      expect(await purge()).toEqual({ entries: 3, tasks: 0, more: false })
      expect(await world().get('a')).toEqual(task)
      expect(await world().store.findResult('a')).toBeUndefined()
      expect(await world().store.findResult('a', 1)).toBeUndefined()
      await world().store.update([ending(task)])
      expect((await world().store.findResult('a'))?.position).toBe(4)
    })

    it('keeps a failed run of a series by its number', async () => {
      const task = await world().addOne(named('a'))
      const first = nextRun(task)
      const failed = first.entries.map((entry) => ({ ...entry, outcome: 'failed' as const }))
      await world().store.update([{ task: first.task, entries: failed }])
      await world().store.update([nextRun(first.task)])
      after(2 * HOUR)
      expect(await purge()).toMatchObject({ entries: 1 })
      expect((await world().store.findResult('a', 1))?.outcome).toBe('failed')
      expect(await world().store.findResult('a', 2)).toBeUndefined()
      expect((await world().store.findResult('a'))?.run).toBe(1)
    })

    it('leaves a task alone that was opened again, when its old end goes', async () => {
      const end = await ended('a', 'failed')
      const again: Task = { ...end, state: 'scheduled', run: 2, endTime: 0 }
      await world().store.update([{ task: again, entries: [], reopen: true }])
      after(20 * HOUR)
      expect(await purge()).toMatchObject({ entries: 1, tasks: 0 })
      expect(await world().get('a')).toEqual(again)
      expect(await world().store.findResult('a', 1)).toBeUndefined()
      await world().store.update([ending(again, 'succeeded', { endTime: world().now })])
      expect((await world().store.findResult('a'))?.run).toBe(2)
    })

    it('opens again a task of which only the id was remembered', async () => {
      const end = await ended('a', 'failed', 30 * HOUR)
      after(20 * HOUR)
      await purge()
      const again: Task = { ...end, state: 'scheduled', run: 2, endTime: 0 }
      expect(await world().store.update([{ task: again, entries: [], reopen: true }])).toEqual([
        { kind: 'stored' },
      ])
      expect(await world().store.findResult('a')).toBeUndefined()
      await world().store.update([ending(again, 'succeeded', { endTime: world().now })])
      after(20 * HOUR + 1)
      await purge()
      expect((await world().store.findResult('a'))?.run).toBe(2)
      expect(await known('a')).toEqual([true])
    })

    it('takes small steps: each says whether there is more', async () => {
      for (let i = 0; i < 10; i++) await ended(`t${i}`)
      after(2 * HOUR)
      const steps: PurgeStep[] = []
      do steps.push(await purge({ maxEntries: 3 }))
      while (steps.at(-1)?.more)
      expect(steps.map(({ entries }) => entries)).toEqual([3, 3, 3, 1])
      expect((await world().store.stats()).earliest).toBe(10)
    })

    it('leaves a log that goes on: positions, times and pages', async () => {
      await ended('a')
      await ended('b')
      after(2 * HOUR)
      await purge()
      world().now = START - HOUR
      await ended('c')
      const [entry] = await world().log()
      expect(entry).toMatchObject({ position: 3, commitTime: START, taskId: 'c' })
      const page = await world().store.readLog({ after: 0, filter: EVERYTHING, maxEntries: 9, maxBytes: 1e6 })
      expect(page).toMatchObject({ entries: [{ position: 3 }], through: 3 })
      expect(await world().store.positionAt(0)).toBe(2)
    })

    it.each(survives)(
      'is remembered after a %s: where the log begins, and every number that was used',
      async (how) => {
        const { arrival } = await ended('a')
        await ended('failed', 'failed')
        after(2 * HOUR)
        await purge()
        after(11 * HOUR)
        await purge()
        await world()[how]()
        expect(await world().store.stats()).toMatchObject({ earliest: 2, latest: 2, logEntries: 0 })
        const b = await world().addOne(named('b'))
        expect(b.arrival).toBeGreaterThan(arrival + 1)
        await world().store.update([ending(b)])
        expect((await world().log()).map(({ position }) => position)).toEqual([3])
      },
    )

    it('may be followed by tidying at any time', async () => {
      const tasks = await Promise.all([ended('a'), world().store.tidy(), ended('b'), world().store.tidy()])
      expect(tasks).toHaveLength(4)
      expect(await logged()).toEqual(['a', 'b'])
    })
  })
}
