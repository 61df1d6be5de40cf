import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sqliteStore, temporaryFolder } from '../store/sqlite-worlds.js'
import { BuiltStore } from './built-store.js'

/** The shell counts files in blocks of 512 or 1,024 bytes: about 1 or 2 MB. */
const LIMIT = 'ulimit -f 2000; exec "$0" test/outside/fill-store.mjs "$1"'

describe.runIf(process.platform !== 'win32')('a store whose disk reports errors', () => {
  it('refuses what it cannot write, and has all that it acknowledged and nothing else', async () => {
    const folder = temporaryFolder()
    const output = execFileSync('sh', ['-c', LIMIT, process.execPath, folder], { encoding: 'utf8' })
    const { stored, refused, scheduled } = JSON.parse(output) as {
      stored: string[]
      refused: Record<string, string>
      scheduled: number
    }
    expect(stored.length).toBeGreaterThan(5)
    expect(scheduled).toBe(stored.length)
    expect(new Set(Object.values(refused))).toEqual(new Set(['STORE_UNAVAILABLE']))

    const store = sqliteStore({ folder, now: () => Date.now(), runIn: 'thread' }, BuiltStore)
    const { tasks } = await store.open()
    expect(tasks.map(({ spec }) => spec.id)).toEqual(stored)
    const ids = Object.keys(refused)
    expect(await store.get(ids)).toEqual(ids.map(() => undefined))
    await store.close()
    rmSync(folder, { recursive: true })
  })
})
