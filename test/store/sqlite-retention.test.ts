import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SqliteStore } from '../../server/store/sqlite/sqlite-store.js'
import type { PurgeRules } from '../../server/store/task-store.js'
import type { Payload } from '../../server/task/task-spec.js'
import type { Task } from '../../server/task/task.js'
import { sqliteStore, temporaryFolder } from './sqlite-worlds.js'
import { created, only } from './store-world.js'
import { ending, named, newTask, START } from './stored-tasks.js'

const DAY = 86_400_000
const EVERYTHING_GOES: PurgeRules = {
  now: START + 1,
  before: {
    succeeded: START + 1,
    failed: START + 1,
    timedOut: START + 1,
    cancelled: START + 1,
    expired: START + 1,
    skipped: START + 1,
  },
  maxBytes: 0,
  keepAfter: Number.MAX_SAFE_INTEGER,
  maxEntries: 100_000,
}
const json = (value: unknown): Payload => ({ kind: 'json', text: JSON.stringify(value) })
const LARGE = { text: 'x'.repeat(2_000), list: [1, 2, { a: null }], b: { c: 1, d: 2 } }
const LARGE_AGAIN = { b: { d: 2, c: 1 }, list: [1, 2, { a: null }], text: 'x'.repeat(2_000) }

describe('a remembered id', () => {
  let store: SqliteStore
  beforeEach(async () => {
    store = sqliteStore({ folder: ':memory:', now: () => START })
    await store.open()
  })
  afterEach(() => store.close())

  const add = async (payload: Payload) =>
    only(await store.insert([{ task: named('a', { spec: { payload, rememberIdForMs: DAY } }), near: true }]))
  const endAndPurge = async (task: Task): Promise<void> => {
    await store.update([ending(task, 'cancelled')])
    expect(await store.purge(EVERYTHING_GOES)).toEqual({ entries: 1, tasks: 0, more: false })
  }

  it('keeps a small input', async () => {
    await endAndPurge(created(await add(json({ n: 1 }))))
    expect((await add(json({ n: 2 }))).task.spec.payload).toEqual(json({ n: 1 }))
  })

  it.each([
    ['JSON', json(LARGE), json(LARGE_AGAIN), json({ ...LARGE, more: 1 })],
    [
      'bytes',
      { kind: 'bytes', bytes: new Uint8Array(2_000) },
      { kind: 'bytes', bytes: new Uint8Array(2_000) },
      { kind: 'bytes', bytes: new Uint8Array(2_001) },
    ],
  ] as const)('knows a large input again that it no longer keeps: %s', async (_, first, same, other) => {
    const task = created(await add(first))
    await endAndPurge(task)
    expect(await add(same)).toMatchObject({ kind: 'exists', task: { spec: { payload: same } } })
    const different = await add(other)
    expect(different).toMatchObject({ kind: 'exists', task: { spec: { payload: { kind: 'forgotten' } } } })
    const [found] = await store.get(['a'])
    expect(found).toMatchObject({ state: 'cancelled', spec: { id: 'a', payload: { kind: 'forgotten' } } })
    // and what is left is not looked at for nothing
    expect(await store.purge(EVERYTHING_GOES)).toEqual({ entries: 0, tasks: 0, more: false })
    expect((await store.stats()).bytes).toBeLessThan(200_000)
  })
})

describe('the files of a store', () => {
  let folder: string
  let store: SqliteStore
  beforeEach(async () => {
    folder = temporaryFolder()
    store = sqliteStore({ folder, durability: 'relaxed', now: () => START })
    await store.open()
  })
  afterEach(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })
  const sizeOf = (name: string): number => statSync(join(folder, name)).size

  it('do not grow with what was kept and has gone, and shrink to what they hold', async () => {
    const round = async (): Promise<void> => {
      const payload = { kind: 'bytes', bytes: new Uint8Array(5_000) } as const
      const tasks = Array.from({ length: 400 }, () => newTask({ spec: { payload, rememberIdForMs: 1 } }))
      const answers = await store.insert(tasks.map((task) => ({ task, near: true })))
      await store.update(answers.map(({ task }) => ending(task)))
      await store.purge({ ...EVERYTHING_GOES, now: START + DAY })
      await store.tidy()
    }
    await round()
    const [first, used] = [sizeOf('punctual.db'), (await store.stats()).bytes]
    for (let i = 0; i < 5; i++) await round()
    expect(sizeOf('punctual.db')).toBeLessThan(first * 1.2)
    expect((await store.stats()).bytes).toBeLessThan(used * 1.2)
    expect(used).toBeLessThan(first / 2)
    expect(sizeOf('punctual.db-wal')).toBe(0)
  })
})
