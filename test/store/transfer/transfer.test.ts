import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeResult } from '../../../server/rpc/result-codec.js'
import { decodeResult } from '../../../server/rpc/result-decode.js'
import type { SqliteStore } from '../../../server/store/sqlite/sqlite-store.js'
import { exportStore } from '../../../server/store/sqlite/transfer/export-store.js'
import { importLines } from '../../../server/compose/store-files.js'
import { writeLine } from '../../../server/store/transfer/write-line.js'
import { fillStore } from '../filled-store.js'
import { brokenIn, sqliteStore, temporaryFolder } from '../sqlite-worlds.js'
import { backOff, ending, EVERYTHING, named, nextRun, START } from '../stored-tasks.js'
import { bytesOf, exported, transferred } from '../transferred.js'

const CODEC = { encode: encodeResult, decode: decodeResult }
const HOUR = 3_600_000

let folder: string
let data: string
let to: string
let now: number
beforeEach(() => {
  folder = temporaryFolder()
  data = join(folder, 'data')
  to = join(folder, 'new')
  now = START
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const storeIn = (path: string): SqliteStore => sqliteStore({ folder: path, encodeResult, now: () => now })

const filled = async (): Promise<SqliteStore> => {
  const store = storeIn(data)
  await store.open()
  await fillStore(store)
  return store
}

const reopened = async (): Promise<SqliteStore> => {
  const store = storeIn(data)
  await store.open()
  return store
}

const load = (text: string): Promise<number> => importLines({ data: to, from: bytesOf(text) })

const imported = async (): Promise<[SqliteStore, Awaited<ReturnType<SqliteStore['open']>>]> => {
  await load(exported(data, CODEC))
  const store = storeIn(to)
  return [store, await store.open()]
}

describe('an export', () => {
  it('is a line for the store, each consumer, each live task by arrival, each result in order, and the end', async () => {
    await (await filled()).close()
    const types = [...exportStore(data, CODEC)].map(({ line }) =>
      line.type === 'task' ? `task ${line.task.arrival}` : line.type,
    )
    expect(types).toEqual([
      'export',
      'consumer',
      ...[1, 2, 3, 4, 5, 10].map((arrival) => `task ${arrival}`),
      ...Array.from({ length: 5 }, () => 'result'),
      'end',
    ])
  })

  it('says how far it is, to the end', async () => {
    await (await filled()).close()
    const done = [...exportStore(data, CODEC)].map((line) => line.done)
    expect(done).toEqual(done.toSorted((a, b) => a - b))
    expect(done.at(-1)).toBe(1)
  })

  it('is of one moment, although the server writes on', async () => {
    const store = await filled()
    const before = exported(data, CODEC)
    const lines = exportStore(data, CODEC)
    const first = lines.next()
    await store.insert([{ task: named('later'), near: true }])
    const rest = [...lines].map(({ line }) => line.type)
    expect(first.done).toBe(false)
    expect(rest).toHaveLength(before.trimEnd().split('\n').length - 1)
    await store.close()
  })

  it('can be read as slowly as one likes, and left half read', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    await (await filled()).close()
    const whole = exported(data, CODEC)
    let slowly = ''
    for (const { line } of exportStore(data, CODEC)) {
      slowly += `${writeLine(line)}\n`
      // statements of SQLite that nobody holds are closed between two turns
      collectGarbage()
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(slowly).toBe(whole)
    for (const _ of exportStore(data, CODEC)) break
    // no snapshot is left open: the write-ahead log can be cut
    const store = await reopened()
    await store.insert([{ task: named('later'), near: true }])
    await store.close()
    expect(statSync(join(data, 'punctual.db-wal'), { throwIfNoEntry: false })?.size ?? 0).toBe(0)
  })

  it('of nothing says so', () => {
    mkdirSync(data)
    expect(() => exported(data, CODEC)).toThrow(/no store in .*punctual\.db/)
  })

  it('keeps results that this version could not write again, byte for byte', async () => {
    const store = sqliteStore({
      folder: data,
      now: () => now,
      // a field of a later version
      encodeResult: (result) => Buffer.concat([encodeResult(result), Buffer.of(0xf8, 0x3f, 1)]),
    })
    await store.open()
    await fillStore(store)
    await store.close()
    expect(exported(data, CODEC)).toContain('"sealed_base64"')
    const { before, after } = await transferred(data, CODEC)
    expect(after).toEqual(before)
  })
})

describe('an import', () => {
  it('gives a store that holds to every invariant, and whose export is the same', async () => {
    await (await filled()).close()
    const text = exported(data, CODEC)
    expect(await load(text)).toBe(14)
    expect(brokenIn(to)).toEqual([])
    expect(exported(to, CODEC)).toBe(text)
    expect(readdirSync(to).toSorted()).toEqual(['punctual.db', 'punctual.lock'])
  })

  it('is found as after a clean stop: what ran runs again, and nobody is suspected', async () => {
    await (await filled()).close()
    const [store, { tasks, cleanStop }] = await imported()
    expect(cleanStop).toBe(true)
    expect(tasks.map(({ spec, state, attempts }) => ({ id: spec.id, state, attempts }))).toEqual([
      { id: 'runs', state: 'running', attempts: 1 },
    ])
    await store.close()
  })

  it('has a log of a new name; positions, results and consumers are those of before', async () => {
    const old = await filled()
    const consumers = await old.consumers()
    const result = await old.findResult('ended-failed')
    const log = await old.readLog({ after: 0, filter: EVERYTHING, maxEntries: 100, maxBytes: 1e6 })
    await old.close()
    const { logId } = await old.open()
    await old.close()
    const [store, recovery] = await imported()
    expect(recovery.logId).not.toBe(logId)
    expect(await store.consumers()).toEqual(consumers)
    expect(result?.outcome).toBe('failed')
    expect(await store.findResult('ended-failed')).toEqual(result)
    expect(await store.readLog({ after: 0, filter: EVERYTHING, maxEntries: 100, maxBytes: 1e6 })).toEqual(log)
    await store.close()
  })

  it('numbers new tasks, starts and results after the old ones, and knows the old ids', async () => {
    await (await filled()).close()
    const [store] = await imported()
    expect((await store.insert([{ task: named('far'), near: false }]))[0]?.kind).toBe('exists')
    const [answer] = await store.insert([{ task: named('another'), near: true }])
    expect(answer?.task.arrival).toBeGreaterThan(10)
    expect(await store.reserveStartIds(1)).toBe(11)
    if (answer) await store.update([ending(answer.task)])
    expect((await store.stats()).latest).toBe(6)
    await store.close()
    expect(brokenIn(to)).toEqual([])
  })

  it('keeps what retention left: ids that are remembered, failures that are kept longer', async () => {
    const old = storeIn(data)
    await old.open()
    const large = { payload: { kind: 'json', text: JSON.stringify('x'.repeat(2_000)) } } as const
    for (const [id, state] of [
      ['small', 'succeeded'],
      ['large', 'succeeded'],
      ['failed', 'failed'],
    ] as const) {
      const given = id === 'large' ? large : {}
      const [created] = await old.insert([{ task: named(id, { spec: given }), near: true }])
      if (created) await old.update([ending(created.task, state)])
    }
    now += 2 * HOUR
    const [one, ten] = [now - HOUR, now - 10 * HOUR]
    const rules = {
      before: { succeeded: one, cancelled: one, skipped: one, failed: ten, timedOut: ten, expired: ten },
      maxBytes: 1e9,
      keepAfter: Number.MAX_SAFE_INTEGER,
      maxEntries: 1_000,
    }
    await old.purge({ now, ...rules })
    const kept = await old.get(['small', 'large', 'failed'])
    await old.close()
    expect(exported(data, CODEC)).toMatch(/"type":"ended".*\n.*"input_hash".*\n.*"type":"result"/)
    const [store] = await imported()
    expect(await store.get(['small', 'large', 'failed'])).toEqual(kept)
    expect(await store.findResult('small')).toBeUndefined()
    expect((await store.findResult('failed'))?.outcome).toBe('failed')
    expect((await store.stats()).earliest).toBe(3)
    // and retention goes on where it was
    now += 24 * HOUR
    const later = Object.fromEntries(Object.keys(rules.before).map((outcome) => [outcome, now - HOUR]))
    expect(await store.purge({ ...rules, now, before: later as typeof rules.before })).toMatchObject({
      tasks: 3,
    })
    expect(await store.get(['small', 'large', 'failed'])).toEqual([undefined, undefined, undefined])
    await store.close()
    expect(brokenIn(to)).toEqual([])
  })

  it('finds each run of a series by its number, and its attempts in the log', async () => {
    const old = storeIn(data)
    await old.open()
    let [task] = (await old.insert([{ task: named('series'), near: true }])).map((answer) => answer.task)
    for (const change of [nextRun, (open: NonNullable<typeof task>) => backOff(open, START + 1), nextRun]) {
      if (!task) throw new Error('no task')
      const transition = change(task)
      await old.update([transition])
      task = transition.task
    }
    await old.close()
    const [store] = await imported()
    expect((await store.findResult('series', 1))?.position).toBe(1)
    expect((await store.findResult('series', 2))?.position).toBe(3)
    expect((await store.findResult('series'))?.run).toBe(2)
    const { entries } = await store.readLog({ after: 0, filter: EVERYTHING, maxEntries: 9, maxBytes: 1e6 })
    expect(entries.map(({ kind }) => kind)).toEqual(['result', 'attempt', 'result'])
    await store.close()
  })
})
