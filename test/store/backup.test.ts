import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backupStore } from '../../server/store/sqlite/backup.js'
import { checkStore } from '../../server/store/sqlite/check/check-store.js'
import type { SqliteStore } from '../../server/store/sqlite/sqlite-store.js'
import { fillStore } from './filled-store.js'
import { brokenIn, sqliteStore, temporaryFolder } from './sqlite-worlds.js'
import { named } from './stored-tasks.js'

let folder: string
let data: string
let to: string
beforeEach(() => {
  folder = temporaryFolder()
  data = join(folder, 'data')
  to = join(folder, 'copy.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const filled = async (): Promise<SqliteStore> => {
  const store = sqliteStore({ folder: data })
  await store.open()
  await fillStore(store)
  return store
}

describe('a backup', () => {
  it('is whole, and the store as it was at its beginning, although the server writes on', async () => {
    const store = await filled()
    let written = 0
    const copying = backupStore({
      data,
      to,
      onProgress: () => void store.insert([{ task: named(`later-${written++}`), near: false }]),
    })
    await store.insert([{ task: named('after'), near: true }])
    await copying
    expect(brokenIn(to)).toEqual([])
    await store.close()
    const [restored, { tasks }] = await restore()
    expect(tasks.map(({ spec }) => spec.id).toSorted()).toEqual(['near', 'paused-near', 'runs'])
    expect((await restored.get(['far', 'ended-succeeded', 'after'])).map((task) => task?.state)).toEqual([
      'scheduled',
      'succeeded',
      undefined,
    ])
    await restored.close()
  })

  it('is one file, and nothing else is left beside it', async () => {
    const store = await filled()
    const bytes = await backupStore({ data, to })
    expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'data'])
    expect(readFileSync(to)).toHaveLength(bytes)
    await store.close()
  })

  it('gives whoever starts from it a log of a new name, once; positions of consumers stay', async () => {
    const store = await filled()
    const consumers = await store.consumers()
    await backupStore({ data, to })
    await store.close()
    const again = sqliteStore({ folder: data })
    const { logId } = await again.open()
    await again.close()
    const [restored, { logId: newLogId }] = await restore()
    expect(newLogId).not.toBe(logId)
    expect(consumers).toHaveLength(1)
    expect(await restored.consumers()).toEqual(consumers)
    await restored.close()
    const later = sqliteStore({ folder: join(folder, 'restored') })
    expect((await later.open()).logId).toBe(newLogId)
    await later.close()
  })

  it('of a server that runs is of one that has not stopped: what ran is found interrupted', async () => {
    const store = await filled()
    await backupStore({ data, to })
    await store.close()
    const [restored, { cleanStop }] = await restore()
    expect(cleanStop).toBe(false)
    await restored.close()
  })

  it('works on a store that nobody uses', async () => {
    await (await filled()).close()
    await backupStore({ data, to })
    expect(brokenIn(to)).toEqual([])
  })

  it('overwrites nothing', async () => {
    await (await filled()).close()
    writeFileSync(to, 'precious')
    await expect(backupStore({ data, to })).rejects.toThrow(
      `${to} exists already; a backup overwrites nothing`,
    )
    expect(readFileSync(to, 'utf8')).toBe('precious')
  })

  it.each([
    ['before it began', (stop: AbortController) => stop.abort(new Error('enough'))],
    ['as soon as it began', (stop: AbortController) => queueMicrotask(() => stop.abort(new Error('enough')))],
  ])('that is given up %s leaves nothing, also not later', async (_, giveUp) => {
    await (await filled()).close()
    const stop = new AbortController()
    giveUp(stop)
    await expect(backupStore({ data, to, signal: stop.signal })).rejects.toThrow('enough')
    expect(readdirSync(folder)).toEqual(['data'])
  })

  it.each([
    ['of nothing', () => join(folder, 'nowhere'), /there is no .*nowhere/],
    ['of an empty folder', () => folder, /no store in .*punctual\.db/],
    ['of a foreign file', () => foreign(), /not an SQLite file/],
  ])('%s says so', async (_, from, says) => {
    await expect(backupStore({ data: from(), to })).rejects.toThrow(says)
    expect(existsSync(to)).toBe(false)
  })

  function foreign(): string {
    const file = join(folder, 'letter.txt')
    writeFileSync(file, 'dear reader')
    return file
  }

  async function restore(): Promise<[SqliteStore, Awaited<ReturnType<SqliteStore['open']>>]> {
    const restoredData = join(folder, 'restored')
    mkdirSync(restoredData)
    renameSync(to, join(restoredData, 'punctual.db'))
    const store = sqliteStore({ folder: restoredData })
    return [store, await store.open()]
  }
})

describe('a check', () => {
  it('finds a store whole that holds every kind of task, beside its server', async () => {
    const store = await filled()
    const { findings } = checkStore(data)
    expect(findings.filter(({ broken }) => broken > 0)).toEqual([])
    // of each invariant something was there to be looked at
    expect(findings.filter(({ checked }) => checked === 0)).toEqual([])
    await store.close()
  })

  it.each([
    ["DELETE FROM waiting WHERE id = 'far'", 'exactly one place', /far .* is in none/],
    [
      'INSERT INTO near SELECT arrival, namespace, id, handler, due, state, start_id, attempts, start_us, log_position, head, spec FROM waiting',
      'exactly one place',
      /is in near and waiting/,
    ],
    ["DELETE FROM ids WHERE id = 'near'", 'near has its id remembered', /near .* is not remembered/],
    ["UPDATE ids SET arrival = 4711 WHERE id = 'far'", 'waiting has its id remembered', /far .* says 4711/],
    ["UPDATE near SET head = x'00' WHERE id = 'near'", 'near can be read', /^near /],
    ["UPDATE near SET due = 5 WHERE id = 'near'", 'near can be read', /listed as due at 5/],
    ["UPDATE near SET state = 3 WHERE id = 'near'", 'near can be read', /no live task is/],
    ["UPDATE near SET handler = 99 WHERE id = 'near'", 'near can be read', /unknown handler: 99/],
    [
      'UPDATE near SET start_id = 1000000 WHERE start_us IS NOT NULL',
      'start ids come before',
      /start id 1000000, the next is/,
    ],
    ["UPDATE waiting SET priority = 7 WHERE id = 'far'", 'waiting can be read', /priority listed as 7/],
    ["UPDATE near SET log_position = 999 WHERE id = 'near'", 'near can be read', /came in at 999/],
    ['DELETE FROM log WHERE first_position = 2', 'the log has no hole', /nothing from 2 to/],
    [
      'UPDATE log SET commit_time = 100 WHERE first_position = 1',
      'the log has no hole',
      /committed before the one before/,
    ],
    [
      'UPDATE log SET body = substr(body, 1, length(body) - 1) WHERE first_position = 1',
      'entry of the log can be read',
      /of the row 1 to/,
    ],
    [
      "UPDATE ended SET position = position + 1 WHERE id = 'ended-succeeded'",
      'ended task is where',
      /ended-succeeded/,
    ],
    [
      "UPDATE ended SET position = 999 WHERE id = 'ended-succeeded'",
      'ended task is where',
      /nothing at position 999/,
    ],
    ["UPDATE ended SET state = 4 WHERE id = 'ended-succeeded'", 'ended task is where', /listed as state 4/],
    ['UPDATE runs SET position = position + 1', 'earlier run has its result', /run 1 of arrival/],
    [
      "UPDATE meta SET value = json_set(value, '$.counts.1', 99) WHERE key = 'counts'",
      'as many as counted',
      /scheduled, 99 are counted/,
    ],
    [
      "UPDATE meta SET value = json_set(value, '$.counts.log', 99) WHERE key = 'counts'",
      'as long as counted',
      /99 are counted/,
    ],
    [
      "UPDATE meta SET value = json_set(value, '$.arrival', 1) WHERE key = 'counts'",
      'exactly one place',
      /the newest is 1/,
    ],
    ['UPDATE consumers SET position = 999', 'within the log', /audit stands at 999/],
    ["UPDATE consumers SET filter = '{'", 'within the log', /cannot be read/],
  ])('after %s says which invariant is broken, and by what', async (sql, invariant, example) => {
    await (await filled()).close()
    const connection = new DatabaseSync(join(data, 'punctual.db'))
    connection.exec(sql)
    connection.close()
    const broken = checkStore(data).findings.filter((finding) => finding.broken > 0)
    expect(broken.find((finding) => finding.invariant.includes(invariant))?.examples.join('\n')).toMatch(
      example,
    )
  })

  it('after the file was damaged says so', async () => {
    await (await filled()).close()
    const file = join(data, 'punctual.db')
    const bytes = readFileSync(file)
    bytes.fill(0xff, bytes.length - 4_000)
    writeFileSync(file, bytes)
    expect(brokenIn(data).join()).toContain('the file is sound')
  })

  it('refuses a file in which no store was made', async () => {
    await (await filled()).close()
    const connection = new DatabaseSync(join(data, 'punctual.db'))
    connection.exec('PRAGMA user_version = 0; PRAGMA wal_checkpoint(TRUNCATE)')
    connection.close()
    expect(() => checkStore(data)).toThrow(/no server has used it yet/)
  })
})
