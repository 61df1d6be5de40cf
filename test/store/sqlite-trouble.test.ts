import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SqliteStore, SqliteStoreOptions } from '../../server/store/sqlite/sqlite-store.js'
import { SchedulerError } from '../../server/task/errors.js'
import type { Task } from '../../server/task/task.js'
import { sqliteStore, temporaryFolder } from './sqlite-worlds.js'
import { created } from './store-world.js'
import { ending, named } from './stored-tasks.js'

describe('a store in trouble', () => {
  let folder: string
  let file: string
  let store: SqliteStore
  beforeEach(() => {
    folder = temporaryFolder()
    file = join(folder, 'punctual.db')
  })
  afterEach(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })

  const start = async (options: Partial<SqliteStoreOptions> = {}): Promise<void> => {
    store = sqliteStore({ folder, lockWaitMs: 0, ...options })
    await store.open()
  }
  const add = async (id: string, bytes = 0): Promise<Task> => {
    const payload = { kind: 'bytes', bytes: new Uint8Array(bytes) } as const
    const [answer] = await store.insert([{ task: named(id, { spec: { payload } }), near: true }])
    if (!answer) throw new Error('no answer')
    return created(answer)
  }
  const reasonOf = async (call: Promise<unknown>): Promise<string> => {
    const error = await call.then(
      () => undefined,
      (caught: unknown) => caught,
    )
    return error instanceof SchedulerError ? error.reason : String(error)
  }
  const known = async (...ids: string[]): Promise<boolean[]> =>
    (await store.get(ids)).map((task) => task !== undefined)

  it('says that it is unavailable while another program locks its file, and works again afterwards', async () => {
    await start()
    const before = await add('before')
    const other = new DatabaseSync(file, { timeout: 0 })
    other.exec('BEGIN EXCLUSIVE')
    const calls = [add('a'), store.update([ending(before)]), store.start([]), store.reserveStartIds(1)]
    expect(
      await Promise.all([calls[0], calls[1], calls[3]].map((call) => reasonOf(call as Promise<unknown>))),
    ).toEqual(['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE', 'STORE_UNAVAILABLE'])
    // what only asks is answered
    expect(await known('before', 'a')).toEqual([true, false])
    expect((await store.stats()).states.scheduled).toBe(1)
    other.exec('ROLLBACK')
    other.close()
    await add('a')
    expect(await store.update([ending(before)])).toEqual([{ kind: 'stored' }])
    expect((await store.stats()).states).toMatchObject({ scheduled: 1, succeeded: 1 })
  })

  it('says that it is full when it can grow no more, keeps what it acknowledged, and loses no number', async () => {
    await start({ maxPages: 120 })
    const acknowledged: string[] = []
    const refusals: string[] = []
    for (let i = 0; i < 40; i++) {
      const reason = await reasonOf(add(`t${i}`, 20_000))
      if (reason === 'undefined') acknowledged.push(`t${i}`)
      else refusals.push(reason)
    }
    expect(refusals.length).toBeGreaterThan(10)
    expect(new Set(refusals)).toEqual(new Set(['STORE_FULL']))
    expect(acknowledged.length).toBeGreaterThan(10)
    expect((await store.stats()).states.scheduled).toBe(acknowledged.length)
    await store.close()
    await start()
    const { length } = await store.get(acknowledged)
    expect((await known(...acknowledged)).filter(Boolean)).toHaveLength(length)
    expect((await known('t39', 't38')).some(Boolean)).toBe(false)
    await add('t39')
  })

  it('refuses only the calls that do not fit, not those that came with them', async () => {
    await start({ maxPages: 120 })
    const calls = [add('small 1'), add('large', 1_000_000), add('small 2')]
    expect(await Promise.all(calls.map(reasonOf))).toEqual(['undefined', 'STORE_FULL', 'undefined'])
    expect(await known('small 1', 'large', 'small 2')).toEqual([true, false, true])
  })

  it('refuses new tasks before the disk is full, and still stores what happens to the others', async () => {
    await start()
    const task = await add('a')
    await store.close()
    await start({ diskReserveBytes: Number.MAX_SAFE_INTEGER })
    const [refused, answers] = await Promise.all([reasonOf(add('b')), store.update([ending(task)])])
    expect(refused).toBe('STORE_FULL')
    expect(answers).toEqual([{ kind: 'stored' }])
    expect(await known('a', 'b')).toEqual([true, false])
  })

  it.each(['punctual.db', 'punctual.db-wal'])(
    'does not go on in a file that was removed, as SQLite would: %s',
    async (name) => {
      await start()
      await add('before')
      const path = join(folder, name)
      renameSync(path, `${path}.away`)
      expect(await reasonOf(add('a'))).toBe('STORE_UNAVAILABLE')
      renameSync(`${path}.away`, path)
      await add('b')
      expect(await known('before', 'a', 'b')).toEqual([true, false, true])
    },
  )

  it('does not go on when its file was replaced by another', async () => {
    await start()
    await add('before')
    copyFileSync(file, `${file}.copy`)
    renameSync(file, `${file}.old`)
    renameSync(`${file}.copy`, file)
    await expect(add('a')).rejects.toThrow(/replaced: restart the server/)
    renameSync(`${file}.old`, file)
    await add('b')
  })

  it('refuses calls before it is open and after it was closed', async () => {
    store = sqliteStore({ folder })
    expect(await reasonOf(store.get(['a']))).toBe('STORE_UNAVAILABLE')
    await store.open()
    await store.close()
    expect(await reasonOf(add('a'))).toBe('STORE_UNAVAILABLE')
  })

  it('keeps an error of ours apart from its own trouble: one bad call fails alone', async () => {
    await start()
    const task = await add('a')
    const noResult = { ...ending(task), entries: [] }
    await expect(store.update([noResult])).rejects.toThrow('has ended without a result')
    const tooMuch = { ...task, dueTime: Number.NaN }
    const calls = [store.update([{ task: tooMuch, entries: [] }]), add('b')]
    const [bad, good] = await Promise.allSettled(calls)
    expect([bad?.status, good?.status]).toEqual(['rejected', 'fulfilled'])
    expect(await store.get(['a'])).toEqual([task])
  })
})
