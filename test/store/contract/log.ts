import { describe, expect, it } from 'vitest'
import type { LogEntry, LogFilter } from '../../../server/store/task-store.js'
import type { Task } from '../../../server/task/task.js'
import { comparable, type StoreWorld } from '../store-world.js'
import { backOff, ending, EVERYTHING, named, newTask, START } from '../stored-tasks.js'

const filter = (given: Partial<LogFilter>): LogFilter => ({ ...EVERYTHING, includeAttempts: false, ...given })

export function logContract(world: () => StoreWorld): void {
  const taskIds = (entries: readonly LogEntry[]): string[] => entries.map(({ taskId }) => taskId)
  /** Ends these tasks, `perCall` in each call. */
  const endAll = async (tasks: readonly Task[], perCall = tasks.length): Promise<void> => {
    for (let i = 0; i < tasks.length; i += perCall)
      await world().store.update(tasks.slice(i, i + perCall).map((task) => ending(task)))
  }

  describe('the log', () => {
    it('numbers entries from 1 in the order of their commits, without a gap', async () => {
      const tasks = await world().add(Array.from({ length: 20 }, () => newTask()))
      await Promise.all([
        endAll(tasks.slice(0, 7), 7),
        endAll(tasks.slice(7, 10), 1),
        endAll(tasks.slice(10), 10),
      ])
      const entries = await world().log()
      expect(entries.map(({ position }) => position)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
    })

    it('keeps what each entry says, and its bytes', async () => {
      const spec = { labels: { team: 'x' }, origin: 'o', handler: 'h' }
      const task = await world().addOne(named('a', { spec }))
      const { entries, ...rest } = backOff(task, START + 5)
      await world().store.update([{ ...rest, entries }])
      const [entry] = await world().log()
      expect(entry).toMatchObject({
        position: 1,
        commitTime: START,
        kind: 'attempt',
        taskId: 'a',
        handler: 'h',
        outcome: 'failed',
        origin: 'o',
        labels: { team: 'x' },
        run: 1,
      })
      expect(JSON.parse(Buffer.from(entry?.bytes ?? []).toString())).toEqual(
        JSON.parse(JSON.stringify(entries[0])),
      )
    })

    it('tells its listeners every entry once, in order, as it is read later', async () => {
      const tasks = await world().add(Array.from({ length: 30 }, () => newTask()))
      await Promise.all([
        endAll(tasks.slice(0, 10), 3),
        endAll(tasks.slice(10, 20), 10),
        endAll(tasks.slice(20), 1),
      ])
      expect(comparable(world().heard)).toEqual(comparable(await world().log()))
      expect(world().heard).toHaveLength(30)
    })

    it('tells nobody what was refused, and no listener that has stopped', async () => {
      const [a, b] = (await world().add([named('a'), named('b')])) as [Task, Task]
      const heard: LogEntry[] = []
      const stop = world().store.onLog((entries) => heard.push(...entries))
      await world().store.update([ending(a), ending({ ...a, startId: 1 })])
      stop()
      await endAll([b])
      expect(taskIds(heard)).toEqual(['a'])
    })

    it('can be read from any position, in pages of any size', async () => {
      const tasks = await world().add(Array.from({ length: 12 }, (_, i) => named(`t${i}`)))
      await endAll(tasks, 5)
      for (const size of [1, 2, 5, 6, 100])
        expect(taskIds(await world().log(EVERYTHING, size))).toHaveLength(12)
      for (let after = 0; after <= 12; after++) {
        const page = await world().store.readLog({
          after,
          filter: EVERYTHING,
          maxEntries: 4,
          maxBytes: 1_000_000,
        })
        expect(page.entries.map(({ position }) => position)).toEqual(
          Array.from({ length: Math.min(4, 12 - after) }, (_, i) => after + i + 1),
        )
        expect(page.through).toBe(Math.max(after, page.entries.at(-1)?.position ?? 0, after))
      }
    })

    it('says how far it has looked: past what the filter left out, never past what is to come', async () => {
      const tasks = await world().add(Array.from({ length: 10 }, (_, i) => named(`t${i}`)))
      await endAll(tasks, 3)
      const nothing = await world().store.readLog({
        after: 0,
        filter: filter({ taskIds: new Set(['nobody']) }),
        maxEntries: 5,
        maxBytes: 1_000,
      })
      expect(nothing).toEqual({ entries: [], through: 10 })
      const none = await world().store.readLog({
        after: 10,
        filter: EVERYTHING,
        maxEntries: 5,
        maxBytes: 1_000,
      })
      expect(none).toEqual({ entries: [], through: 10 })
    })

    it('stops at about the bytes that were asked for, with at least one entry', async () => {
      const tasks = await world().add(Array.from({ length: 6 }, () => newTask()))
      await endAll(tasks, 6)
      const page = await world().store.readLog({ after: 0, filter: EVERYTHING, maxEntries: 100, maxBytes: 1 })
      expect(page.entries).toHaveLength(1)
      expect(page.through).toBe(1)
    })

    it('filters by each field: values of one are alternatives, fields must all fit', async () => {
      const task = (id: string, handler: string, labels: Record<string, string>, origin: string) =>
        named(id, { spec: { handler, labels, origin } })
      const [a, b, c, d] = (await world().add([
        task('a', 'x', { team: '1' }, 'o1'),
        task('b', 'x', { team: '2', big: 'yes' }, 'o2'),
        task('c', 'y', { team: '1' }, 'o1'),
        task('d', 'y', {}, 'o2'),
      ])) as [Task, Task, Task, Task]
      await world().store.update([ending(a), ending(b, 'failed'), ending(c, 'cancelled'), backOff(d, START)])
      const found = async (given: Partial<LogFilter>) => taskIds(await world().log(filter(given)))
      expect(await found({})).toEqual(['a', 'b', 'c'])
      expect(await found({ includeAttempts: true })).toEqual(['a', 'b', 'c', 'd'])
      expect(await found({ taskIds: new Set(['a', 'c', 'zz']) })).toEqual(['a', 'c'])
      expect(await found({ handlers: new Set(['x']) })).toEqual(['a', 'b'])
      expect(await found({ outcomes: new Set(['failed', 'cancelled']) })).toEqual(['b', 'c'])
      expect(await found({ origins: new Set(['o1']), handlers: new Set(['y']) })).toEqual(['c'])
      expect(await found({ labels: { team: '2', big: 'yes' } })).toEqual(['b'])
      expect(await found({ labels: { constructor: 'x' } })).toEqual([])
    })

    it('never goes back in time, whatever the wall clock does', async () => {
      const tasks = await world().add(Array.from({ length: 4 }, () => newTask()))
      for (const [i, offset] of [0, 5_000, -60_000, 6_000].entries()) {
        world().now = START + offset
        await endAll([tasks[i] as Task])
      }
      const times = (await world().log()).map(({ commitTime }) => commitTime)
      expect(times).toEqual([START, START + 5_000, START + 5_000, START + 6_000])
      expect(world().heard.map(({ commitTime }) => commitTime)).toEqual(times)
    })

    it('finds the position before the first entry of an instant', async () => {
      expect(await world().store.positionAt(START)).toBe(0)
      const tasks = await world().add(Array.from({ length: 6 }, () => newTask()))
      for (const [i, offset] of [0, 100, 200].entries()) {
        world().now = START + offset
        await endAll(tasks.slice(i * 2, i * 2 + 2))
      }
      const at = (offset: number) => world().store.positionAt(START + offset)
      expect(await Promise.all([at(-1), at(0), at(1), at(100), at(101), at(200), at(201)])).toEqual([
        0, 0, 2, 2, 4, 4, 6,
      ])
    })
  })
}
