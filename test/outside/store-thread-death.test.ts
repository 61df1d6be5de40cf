import { rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import threads, { type Worker, type WorkerOptions } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SqliteStore } from '../../server/store/sqlite/sqlite-store.js'
import type { LogEntry } from '../../server/store/task-store.js'
import { sqliteStore, temporaryFolder } from '../store/sqlite-worlds.js'
import { EVERYTHING, named } from '../store/stored-tasks.js'
import { reasonOf, StoreLoad } from './store-load.js'

/** Threads that the store has started, the newest last. */
const started: { readonly name: string | undefined; readonly worker: Worker }[] = []
const RealWorker = threads.Worker

class KnownWorker extends RealWorker {
  constructor(file: string | URL, options: WorkerOptions) {
    super(file, options)
    started.push({ name: options.name, worker: this })
  }
}

/** Sends what no thread understands: it dies of it. (To terminate it from outside might catch it inside SQLite, which would be the end of the process.) */
const kill = async (name: 'store' | 'store-reader'): Promise<void> => {
  const worker = started.findLast((thread) => thread.name === name)?.worker
  if (!worker) throw new Error(`no thread ${name}`)
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  worker.postMessage(name === 'store' ? { kind: 'do', id: 0 } : null)
  await ended
}

describe('a thread of the store that ends unexpectedly', () => {
  let folder: string
  let Made: typeof SqliteStore
  beforeAll(async () => {
    threads.Worker = KnownWorker
    syncBuiltinESMExports()
    const { BuiltStore } = await import('./built-store.js')
    Made = BuiltStore
    folder = temporaryFolder()
  })
  afterAll(() => {
    threads.Worker = RealWorker
    syncBuiltinESMExports()
    rmSync(folder, { recursive: true })
  })

  const open = async (): Promise<SqliteStore> => {
    const store = sqliteStore({ folder, now: () => Date.now(), runIn: 'thread', durability: 'relaxed' }, Made)
    await store.open()
    return store
  }

  it('is started anew: what was acknowledged is there, what was refused is not, and the log has no gap and no double', async () => {
    const store = await open()
    const heard: LogEntry[] = []
    store.onLog((entries) => heard.push(...entries))
    const load = new StoreLoad(store)
    load.start(3)
    for (let death = 0; death < 30; death++) {
      await load.more(100 + death * 17)
      await kill('store')
    }
    await load.finish()

    const { stored, refused } = load
    expect(refused.size).toBeGreaterThan(0)
    expect(new Set([...refused.values()].map(reasonOf))).toEqual(new Set(['STORE_UNAVAILABLE']))
    const unknown = (await store.get([...refused.keys()])).filter((task) => task !== undefined)
    expect(unknown).toEqual([])
    expect((await store.stats()).states).toMatchObject({ scheduled: 0, succeeded: stored.size })
    const query = { after: 0, filter: EVERYTHING, maxEntries: 1e6, maxBytes: 1e9 }
    const { entries, through } = await store.readLog(query)
    expect(through).toBe(stored.size)
    expect(entries.findIndex(({ position }, i) => position !== i + 1)).toBe(-1)
    expect(new Set(entries.map(({ taskId }) => taskId)).size).toBe(stored.size)
    const isHeard = ({ position, taskId }: LogEntry, i: number): boolean =>
      heard[i]?.position === position && heard[i].taskId === taskId
    expect(heard).toHaveLength(entries.length)
    expect(entries.every(isHeard)).toBe(true)
    await store.close()
  })

  it('that reads is started anew too', async () => {
    const store = await open()
    await store.insert([{ task: named('read'), near: true }])
    await kill('store-reader')
    const { tasks } = await store.list({ states: ['scheduled'], handlers: [], labels: {}, limit: 1 })
    expect(tasks.map(({ spec }) => spec.id)).toEqual(['read'])
    await store.close()
  })

  it('does not keep a store from being closed, nor the next one from opening', async () => {
    const store = await open()
    await kill('store')
    await store.close()
    const again = await open()
    expect((await again.stats()).states.scheduled).toBe(1)
    await again.close()
  })
})
