import { describe, expect, it } from 'vitest'
import { ResultLog } from '../../server/results/result-log.js'
import { waitForResult } from '../../server/results/wait-for-result.js'
import type { LogEntry, LogFilter, TaskStore } from '../../server/store/task-store.js'
import type { TaskResult } from '../../server/task/result.js'
import type { Task } from '../../server/task/task.js'
import { admit } from '../../server/task/admit.js'
import { aSpec } from '../admission/specs.js'
import { anEntry } from './entries.js'

const ALL: LogFilter = {
  taskIds: new Set(),
  handlers: new Set(),
  labels: {},
  outcomes: new Set(),
  origins: new Set(),
  includeAttempts: false,
}

/** As much of a store as a log needs: entries, and a border below which they are gone. */
class EntryStore {
  readonly entries: LogEntry[] = []
  readonly tasks = new Map<string, Task>()
  earliest = 0
  reads = 0
  readonly #listeners = new Set<(entries: readonly LogEntry[]) => void>()

  commit(...results: Partial<TaskResult>[]): void {
    const added = results.map((result) => {
      const entry = anEntry(result, { position: this.entries.length + 1 })
      this.entries.push(entry)
      return entry
    })
    for (const listener of this.#listeners) listener(added)
  }

  get port(): TaskStore {
    const port: Partial<TaskStore> = {
      stats: async () => ({ latest: this.entries.length, earliest: this.earliest }) as never,
      onLog: (listener) => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
      readLog: async ({ after, maxEntries }) => {
        this.reads += 1
        const entries = this.entries.slice(Math.max(after, this.earliest), after + maxEntries)
        return { entries, through: Math.min(this.entries.length, after + maxEntries) }
      },
      get: async (ids) => ids.map((id) => this.tasks.get(id)),
      findResult: async (id, run) =>
        this.entries.findLast((entry) => entry.taskId === id && (run === undefined || entry.run === run)),
    }
    return port as TaskStore
  }
}

const aTask = (id: string, change: Partial<Task> = {}): Task => ({
  ...admit(aSpec({ id }), 0),
  arrival: 1,
  ...change,
})
const ids = (entries: readonly LogEntry[]): string[] => entries.map(({ taskId }) => taskId)
const never = new AbortController().signal

describe('readers of the log', () => {
  it('that catch up at once read one page for each turn of the event loop, in turn; one alone does not wait', async () => {
    const store = new EntryStore()
    store.commit(...Array.from({ length: 3_000 }, (_, i) => ({ taskId: `t-${i}` })))
    const log = await ResultLog.open(store.port, 'log')
    const alone = log.reader(0, ALL)
    let loop = 0
    let counts = true
    setImmediate(function counted() {
      loop += 1
      if (counts) setImmediate(counted)
    })
    await alone.read()
    expect({ loop, reads: store.reads }).toEqual({ loop: 0, reads: 1 })
    const most = { reads: 0, before: store.reads, loop: -1 }
    const watched = async (reader: typeof alone): Promise<number> => {
      let entries = 0
      while (!reader.isCaughtUp) {
        entries += (await reader.read()).length
        if (loop !== most.loop) Object.assign(most, { before: store.reads, loop })
        most.reads = Math.max(most.reads, store.reads - most.before)
      }
      return entries
    }
    const readers = Array.from({ length: 5 }, () => log.reader(0, ALL))
    expect(await Promise.all(readers.map(watched))).toEqual(readers.map(() => 3_000))
    counts = false
    expect(store.reads).toBe(1 + 5 * 3)
    expect(most.reads).toBeLessThanOrEqual(1)
  })
})

describe('a reader of the log', () => {
  it('reads from the store what was there, and the rest from memory', async () => {
    const store = new EntryStore()
    store.commit({ taskId: 'a' }, { taskId: 'b' })
    const log = await ResultLog.open(store.port, 'log')
    const reader = log.reader(0, ALL)
    expect(ids(await reader.read())).toEqual(['a', 'b'])
    expect(store.reads).toBe(1)
    store.commit({ taskId: 'c' })
    expect(ids(await reader.read())).toEqual(['c'])
    expect(store.reads).toBe(1)
  })

  it('misses nothing that is committed while the log is opened', async () => {
    const store = new EntryStore()
    const opening = ResultLog.open(store.port, 'log')
    store.commit({ taskId: 'a' })
    const log = await opening
    store.commit({ taskId: 'b' })
    const reader = log.reader(0, ALL)
    expect([...ids(await reader.read()), ...ids(await reader.read())]).toEqual(['a', 'b'])
  })

  it('waits for more, and only then', async () => {
    const store = new EntryStore()
    const log = await ResultLog.open(store.port, 'log')
    const reader = log.reader(0, ALL)
    const more = reader.more(never)
    store.commit({ taskId: 'a' })
    await more
    expect(ids(await reader.read())).toEqual(['a'])
    const enough = new AbortController()
    const waiting = reader.more(enough.signal)
    enough.abort()
    await waiting
    expect(reader.isCaughtUp).toBe(true)
  })

  it('ends when retention has overtaken it, and says where the log now begins', async () => {
    const store = new EntryStore()
    store.commit({ taskId: 'a' }, { taskId: 'b' }, { taskId: 'c' })
    const log = await ResultLog.open(store.port, 'log')
    const reader = log.reader(0, ALL)
    store.earliest = 2
    await expect(reader.read()).rejects.toMatchObject({
      reason: 'CURSOR_EXPIRED',
      facts: { earliest_cursor: log.cursor(2) },
    })
    await expect(log.positionOf({ kind: 'after', cursor: log.cursor(1) })).rejects.toMatchObject({
      reason: 'CURSOR_EXPIRED',
    })
    expect(await log.positionOf({ kind: 'after', cursor: log.cursor(2) })).toBe(2)
    expect(await log.positionOf({ kind: 'earliest' })).toBe(2)
  })
})

describe('who waits for one result', () => {
  it('gets that of a task that has ended', async () => {
    const store = new EntryStore()
    store.tasks.set('a', aTask('a', { state: 'succeeded' }))
    store.commit({ taskId: 'a' })
    const log = await ResultLog.open(store.port, 'log')
    const { entry } = await waitForResult(log, store.port, { taskId: 'a', run: undefined, signal: never })
    expect(entry?.taskId).toBe('a')
  })

  it('gets it when it comes, also if it comes while the task is being looked up', async () => {
    const store = new EntryStore()
    store.tasks.set('a', aTask('a'))
    const log = await ResultLog.open(store.port, 'log')
    const waiting = waitForResult(log, store.port, { taskId: 'a', run: undefined, signal: never })
    store.commit({ taskId: 'b' }, { taskId: 'a', kind: 'attempt' }, { taskId: 'a' })
    const { entry } = await waiting
    expect(entry).toMatchObject({ taskId: 'a', kind: 'result' })
  })

  it('of one run gets no other', async () => {
    const store = new EntryStore()
    store.tasks.set('a', aTask('a', { run: 2 }))
    store.commit({ taskId: 'a', run: 1 })
    const log = await ResultLog.open(store.port, 'log')
    const first = await waitForResult(log, store.port, { taskId: 'a', run: 1, signal: never })
    expect(first.entry?.run).toBe(1)
    const waiting = waitForResult(log, store.port, { taskId: 'a', run: 3, signal: never })
    await Promise.resolve()
    store.commit({ taskId: 'a', run: 2 }, { taskId: 'a', run: 3 })
    expect((await waiting).entry?.run).toBe(3)
  })

  it('is answered without one when it has waited enough', async () => {
    const store = new EntryStore()
    store.tasks.set('a', aTask('a'))
    const log = await ResultLog.open(store.port, 'log')
    const enough = new AbortController()
    const waiting = waitForResult(log, store.port, { taskId: 'a', run: undefined, signal: enough.signal })
    enough.abort()
    expect(await waiting).toEqual({ task: store.tasks.get('a') })
  })

  it('for a task that nobody knows is told so', async () => {
    const log = await ResultLog.open(new EntryStore().port, 'log')
    const waiting = waitForResult(log, new EntryStore().port, { taskId: 'a', run: undefined, signal: never })
    await expect(waiting).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' })
  })
})
