import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StoreOpenError } from '../../server/store/task-store.js'
import type { Log, LogFacts } from '../../server/task/log.js'
import { sqliteStore, temporaryFolder } from './sqlite-worlds.js'
import { named } from './stored-tasks.js'

describe('a data folder that cannot be used', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = temporaryFolder()
    file = join(folder, 'punctual.db')
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const openIt = (): Promise<unknown> => sqliteStore({ folder }).open()
  /** Every file that holds something: the lock is empty, and the index of the write-ahead log is no data. */
  const contents = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isFile() && !/\.(lock|db-shm)$/.test(entry.name))
        .map(({ name }) => [name, readFileSync(join(folder, name)).toString('base64')]),
    )
  const makeStore = async (): Promise<void> => {
    const store = sqliteStore({ folder })
    await store.open()
    await store.insert([{ task: named('a'), near: true }])
    await store.close()
  }
  const edit = (sql: string): void => {
    const connection = new DatabaseSync(file)
    connection.exec(`${sql}; PRAGMA wal_checkpoint(TRUNCATE)`)
    connection.close()
  }

  const faults: readonly [what: string, make: () => void | Promise<void>, says: RegExp][] = [
    ['holds random bytes', () => writeFileSync(file, randomBytes(65_536)), /not an SQLite file/],
    ['holds a few bytes', () => writeFileSync(file, 'hello'), /not an SQLite file/],
    ['holds a folder in the place of the file', () => mkdirSync(file), /is not a file/],
    [
      'holds a read-only file',
      async () => {
        await makeStore()
        chmodSync(file, 0o444)
      },
      /is read-only; make it writable/,
    ],
    [
      'holds the store of a newer version',
      async () => {
        await makeStore()
        edit('PRAGMA user_version = 99')
      },
      /written by a newer Punctual \(schema 99/,
    ],
    [
      "holds another program's database",
      () => edit('CREATE TABLE customers (name); PRAGMA user_version = 1'),
      /of another program/,
    ],
  ]
  it.each(faults)(
    '%s: it says so in one line, with the path, and changes nothing (C083)',
    async (_, make, says) => {
      await make()
      const before = contents()
      const error = await openIt().catch((caught: unknown) => caught)
      expect(error).toBeInstanceOf(StoreOpenError)
      expect((error as Error).message).toMatch(says)
      expect((error as Error).message).toContain(file)
      expect((error as Error).message).not.toContain('\n')
      expect(contents()).toEqual(before)
    },
  )

  it('is a file: it says so', async () => {
    writeFileSync(file, 'x')
    const error = await sqliteStore({ folder: file })
      .open()
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(StoreOpenError)
    expect((error as Error).message).toContain(file)
  })

  it('is in use by another server: the second one names it and leaves it alone, the first goes on', async () => {
    const first = sqliteStore({ folder })
    await first.open()
    await expect(openIt()).rejects.toThrow(`another server uses the data folder ${folder}`)
    await first.insert([{ task: named('a'), near: true }])
    await first.close()
    const second = sqliteStore({ folder })
    expect((await second.open()).tasks).toHaveLength(1)
    await second.close()
  })

  it('was found in use: opening it works once the other has gone', async () => {
    const [first, second] = [sqliteStore({ folder }), sqliteStore({ folder })]
    await first.open()
    await expect(second.open()).rejects.toThrow(StoreOpenError)
    await first.close()
    await second.open()
    await second.close()
  })

  it('may be missing: it is made, with all the folders above it', async () => {
    const store = sqliteStore({ folder: join(folder, 'a', 'b') })
    await store.open()
    await store.close()
    expect(readdirSync(join(folder, 'a', 'b'))).toContain('punctual.db')
  })

  it('may hold an empty file, as left by a copy that failed', async () => {
    writeFileSync(file, '')
    await makeStore()
    const store = sqliteStore({ folder })
    expect((await store.open()).tasks).toHaveLength(1)
    await store.close()
  })
})

describe('how durable a store is (C089)', () => {
  const opened = async (durability: 'full' | 'relaxed', folder: string): Promise<LogFacts | undefined> => {
    const said: [string, LogFacts | undefined][] = []
    const log: Log = {
      debug() {},
      info: (message, facts) => said.push([message, facts]),
      warn() {},
      error() {},
    }
    const store = sqliteStore({ folder, durability, log })
    await store.open()
    await store.close()
    return said.find(([message]) => message === 'the store is open')?.[1]
  }

  it.each([
    ['full', 2],
    ['relaxed', 1],
  ] as const)('is the same at every start: %s', async (durability, synchronous) => {
    const folder = temporaryFolder()
    const first = await opened(durability, folder)
    const second = await opened(durability, folder)
    expect(first).toMatchObject({ journalMode: 'wal', synchronous, busyTimeoutMs: 250 })
    expect(second).toEqual(first)
    rmSync(folder, { recursive: true })
  })
})
