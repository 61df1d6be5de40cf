import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeResult } from '../../../server/rpc/result-codec.js'
import { decodeResult } from '../../../server/rpc/result-decode.js'
import { importLines } from '../../../server/compose/store-files.js'
import { fillStore } from '../filled-store.js'
import { sqliteStore, temporaryFolder } from '../sqlite-worlds.js'
import { bytesOf, exported } from '../transferred.js'

let folder: string
let data: string
let to: string
beforeEach(() => {
  folder = temporaryFolder()
  data = join(folder, 'data')
  to = join(folder, 'new')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const load = (text: string, signal?: AbortSignal): Promise<number> =>
  importLines({ data: to, from: bytesOf(text), ...(signal && { signal }) })

describe('an import is all or nothing:', () => {
  let lines: string[]
  beforeEach(async () => {
    const store = sqliteStore({ folder: data, encodeResult })
    await store.open()
    await fillStore(store)
    await store.close()
    lines = exported(data, { encode: encodeResult, decode: decodeResult }).trimEnd().split('\n')
  })
  const file = (change: (lines: string[]) => string[]): string => change(lines).join('\n')
  const line = (type: string): number => lines.findIndex((text) => text.includes(`"type":"${type}"`))

  it.each<[what: string, change: (given: string[]) => string[], says: string | RegExp]>([
    ['nothing at all', () => [], 'there is nothing: an export has at least two lines'],
    ['without its end', (given) => given.slice(0, -1), 'after 13 lines there must be one of type end'],
    ['without its beginning', (given) => given.slice(1), 'line 1: the first line must be of type export'],
    [
      'with a line less',
      (given) => given.toSpliced(3, 1),
      'line 13: there were 13 lines before this one, here are 12',
    ],
    ['with more after its end', (given) => [...given, given[1] ?? ''], 'line 15: nothing may follow'],
    ['with two beginnings', (given) => [given[0] ?? '', ...given], 'line 2: a second export begins'],
    [
      'with a task twice',
      (given) => given.toSpliced(3, 0, given[3] ?? ''),
      'line 5: the task paused-near is there twice',
    ],
    [
      'with two tasks of one arrival',
      (given) => given.map((text) => text.replace('"arrival":2,', '"arrival":1,')),
      'line 4: a task of this arrival is there already',
    ],
    [
      'with a consumer twice',
      (given) => given.toSpliced(1, 0, given[1] ?? ''),
      'line 3: the consumer audit is there twice',
    ],
    [
      'with a result less',
      (given) => given.toSpliced(line('result') + 1, 1),
      'line 10: position 3 must be 2: no result may be missing in between',
    ],
    [
      'with results in another order',
      (given) =>
        given.toSpliced(line('result'), 2, given[line('result') + 1] ?? '', given[line('result')] ?? ''),
      'line 9: position 2 must be 1',
    ],
    [
      "with a result of another task at a task's end",
      (given) => given.map((text) => text.replace('"task_id":"ended-failed"', '"task_id":"near"')),
      'line 10: the result is of near',
    ],
    [
      'with an arrival after the newest',
      (given) => given.map((text) => text.replace('"newest_arrival":10', '"newest_arrival":4')),
      'line 7: arrival 5 is after 4',
    ],
    [
      'with a start after the next',
      (given) => given.map((text) => text.replace('"next_start_id":11', '"next_start_id":1')),
      'line 7: start_id 1 is not before 1',
    ],
    [
      'with a consumer beyond the log',
      (given) => given.map((text) => text.replace('"audit","position":2', '"audit","position":99')),
      /not so in this export: each durable consumer stands within the log: audit stands at 99/,
    ],
    ['with a broken line', (given) => given.with(4, '{'), 'line 5: is not JSON'],
  ])('one %s is refused by its line, and leaves nothing', async (_, change, says) => {
    await expect(load(file(change))).rejects.toThrow(says)
    expect(readdirSync(to)).toEqual(['punctual.lock'])
  })

  it('one that is given up leaves nothing', async () => {
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    await expect(
      load(
        file((given) => given),
        stop.signal,
      ),
    ).rejects.toThrow('enough')
    expect(readdirSync(to)).toEqual(['punctual.lock'])
  })

  it('one that is given up while it is checked leaves nothing, and is not checked to the end', async () => {
    const stop = new AbortController()
    const steps: string[] = []
    const from = bytesOf(file((given) => given))
    const importing = importLines({
      data: to,
      from,
      signal: stop.signal,
      onCheck({ what }) {
        steps.push(what)
        // as an interrupt comes: in the next turn of the event loop
        if (what === 'ids') setImmediate(() => stop.abort(new Error('enough')))
      },
    })
    await expect(importing).rejects.toThrow('enough')
    expect(steps).toEqual(['the file', 'ids'])
    expect(readdirSync(to)).toEqual(['punctual.lock'])
  })

  it('one into a folder with a store is refused; that store stays', async () => {
    mkdirSync(to)
    writeFileSync(join(to, 'punctual.db'), 'precious')
    await expect(load(file((given) => given))).rejects.toThrow(
      `${join(to, 'punctual.db')} exists already; an import overwrites nothing`,
    )
    expect(readFileSync(join(to, 'punctual.db'), 'utf8')).toBe('precious')
  })

  it('one into the folder of a server is refused, though that has no store yet', async () => {
    const server = sqliteStore({ folder: to })
    await server.open()
    rmSync(join(to, 'punctual.db'))
    await expect(load(file((given) => given))).rejects.toThrow('another server uses the data folder')
    expect(existsSync(join(to, 'punctual.db'))).toBe(false)
    await server.close()
  })
})
