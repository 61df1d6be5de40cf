import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openConnection } from '../../server/store/sqlite/connection.js'
import { migrate, type Migrations, migrationsIn, SCHEMA_VERSION } from '../../server/store/sqlite/migrate.js'
import { brokenIn, sqliteStore, temporaryFolder } from './sqlite-worlds.js'
import { EVERYTHING, START } from './stored-tasks.js'

const MIGRATIONS = 'server/store/sqlite/migrations'
const KEPT = 'test/store/kept'

/** Of each migration that a released version has run. */
const FROZEN: Readonly<Record<string, string>> = {
  '0001-initial.sql': '36aa5da4e94b82c517d706e6fc33d3319c54f92683d53ef71f52a52484cbfd4a',
}

let folder: string
let file: string
beforeEach(() => {
  folder = temporaryFolder()
  file = join(folder, 'punctual.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('migrations', () => {
  it.each(readdirSync(MIGRATIONS))('%s is as it was released', (name) => {
    const hash = createHash('sha256')
      .update(readFileSync(join(MIGRATIONS, name)))
      .digest('hex')
    expect(
      hash,
      `stores out there were made by ${name}: leave it as it is and add a new migration (a new one: add its hash and its kept store)`,
    ).toBe(FROZEN[name])
  })

  it('each have a store that is kept', () => {
    const numbers = (names: readonly string[]): string[] => names.flatMap((name) => name.match(/\d{4}/) ?? [])
    expect(numbers(readdirSync(KEPT))).toEqual(numbers(readdirSync(MIGRATIONS)))
  })
})

describe.each(readdirSync(KEPT))('the kept store %s', (name) => {
  it('is opened, is whole, and holds all that it held', async () => {
    copyFileSync(join(KEPT, name), file)
    const store = sqliteStore({ folder, now: () => START })
    const { tasks, cleanStop } = await store.open()
    expect(brokenIn(folder)).toEqual([])
    expect(cleanStop).toBe(true)
    expect(tasks.map(({ spec, state }) => `${spec.id} ${state}`).toSorted()).toEqual([
      'near scheduled',
      'paused-near scheduled',
      'runs running',
    ])
    const { tasks: all } = await store.list({ states: [], handlers: [], labels: {}, limit: 100 })
    expect(all.map(({ spec, state, run }) => `${spec.id} ${state} ${run}`)).toMatchSnapshot('tasks')
    const [far] = await store.get(['far'])
    expect(far).toMatchObject({ dueTime: START + 86_400_000, spec: { priority: 5, labels: { team: 'x' } } })
    expect(await store.findResult('series', 1)).toMatchObject({ outcome: 'succeeded', run: 1 })
    const { entries } = await store.readLog({ after: 0, filter: EVERYTHING, maxEntries: 100, maxBytes: 1e6 })
    expect(entries.map(({ taskId, outcome }) => `${taskId} ${outcome}`)).toMatchSnapshot('the log')
    expect(await store.consumers()).toMatchObject([{ name: 'audit', position: 2 }])
    await store.close()
  })
})

describe('from one schema to the next', () => {
  /** The present migrations and a made-up one. */
  const withNext = (sql: string): Migrations => {
    const made = join(folder, 'migrations')
    mkdirSync(made)
    for (const name of readdirSync(MIGRATIONS)) copyFileSync(join(MIGRATIONS, name), join(made, name))
    writeFileSync(join(made, `${String(SCHEMA_VERSION + 1).padStart(4, '0')}-next.sql`), sql)
    return migrationsIn(pathToFileURL(`${made}/`))
  }
  const newest = (): string => readdirSync(KEPT).at(-1) as string
  const migrated = (migrations: Migrations): void => {
    const connection = openConnection(file)
    try {
      migrate(connection, file, START, migrations)
    } finally {
      connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      connection.close()
    }
  }
  const ask = (from: string, sql: string): unknown => {
    const connection = openConnection(from)
    try {
      return Object.values(connection.prepare(sql).get() as object)[0]
    } finally {
      connection.close()
    }
  }

  it('keeps all rows, and a copy of before beside the store', () => {
    copyFileSync(join(KEPT, newest()), file)
    migrated(withNext('ALTER TABLE near ADD COLUMN node TEXT;'))
    expect(ask(file, 'PRAGMA user_version')).toBe(SCHEMA_VERSION + 1)
    expect(ask(file, 'SELECT count(node IS NULL) FROM near')).toBe(3)
    const copies = readdirSync(folder).filter((name) => name.includes('.before-'))
    expect(copies).toEqual([`punctual.db.before-${SCHEMA_VERSION + 1}-${START}`])
    const copy = join(folder, copies[0] as string)
    expect(brokenIn(copy)).toEqual([])
    // who goes back to it has another log from then on
    expect(ask(copy, "SELECT count(*) FROM meta WHERE key = 'log_id'")).toBe(0)
  })

  it('that fails in the middle leaves the store as it was', () => {
    copyFileSync(join(KEPT, newest()), file)
    expect(() => migrated(withNext('DELETE FROM near; ALTER TABLE nowhere ADD COLUMN node;'))).toThrow(
      /the migration \d{4}-next\.sql of .* failed: no such table: nowhere; the store is as it was/,
    )
    expect(ask(file, 'PRAGMA user_version')).toBe(SCHEMA_VERSION)
    expect(ask(file, 'SELECT count(*) FROM near')).toBe(3)
    expect(brokenIn(file)).toEqual([])
  })

  it('has no way back: the older version refuses the file and leaves it as it is', async () => {
    copyFileSync(join(KEPT, newest()), file)
    migrated(withNext('ALTER TABLE near ADD COLUMN node TEXT;'))
    const before = readFileSync(file)
    await expect(sqliteStore({ folder }).open()).rejects.toThrow('was written by a newer Punctual')
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('makes no copy of a store that is new', () => {
    migrated(withNext('ALTER TABLE near ADD COLUMN node TEXT;'))
    expect(readdirSync(folder).filter((name) => name.includes('.before-'))).toEqual([])
  })
})
