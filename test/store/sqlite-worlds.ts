import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { checkStore } from '../../server/store/sqlite/check/check-store.js'
import { SqliteStore, type SqliteStoreOptions } from '../../server/store/sqlite/sqlite-store.js'
import type { TaskResult } from '../../server/task/result.js'
import type { OpenStore, StoreKind } from './store-world.js'
import { transferred } from './transferred.js'

/** Stands in for the wire's encoding. */
const encodeResult = (result: TaskResult): Uint8Array => Buffer.from(JSON.stringify(result))

/** The same, both ways. */
const RESULT_CODEC = {
  encode: encodeResult,
  decode: (bytes: Uint8Array): TaskResult => ({
    ...(JSON.parse(Buffer.from(bytes).toString()) as TaskResult),
  }),
}

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'punctual-store-'))

type Given = Partial<SqliteStoreOptions> & { readonly folder: string }

/** @param made - The class; default: from the sources. */
export function sqliteStore(options: Given, made = SqliteStore): SqliteStore {
  return new made({ now: () => 0, encodeResult, runIn: 'inline', ...options })
}

export const inMemory: StoreKind = {
  name: 'SQLite in memory',
  survives: [],
  make: async () => ({
    open: (now) => sqliteStore({ folder: ':memory:', now }),
    remove: async () => {},
  }),
}

/** A store in a folder. Who dies leaves the files as they are at that moment; whoever comes next opens a copy of them, for here the dead one still lives. */
export const inFolder = (runIn: 'inline' | 'thread', made = SqliteStore): StoreKind => ({
  name: `SQLite in a folder, ${runIn === 'inline' ? 'in the same thread' : 'in a thread of its own'}`,
  survives: ['restart', 'kill'],
  make: async () => {
    const folders = [temporaryFolder()]
    const opener =
      (folder: string): OpenStore =>
      (now) =>
        sqliteStore({ folder, now, runIn, durability: 'relaxed' }, made)
    return {
      open: opener(folders[0] as string),
      afterKill: async () => {
        const copy = temporaryFolder()
        cpSync(folders.at(-1) as string, copy, { recursive: true, filter: (file) => !file.endsWith('-shm') })
        folders.push(copy)
        return opener(copy)
      },
      remove: async () => {
        // whatever a test has done, it has left a store that holds to its invariants
        const broken = folders.flatMap((folder) => brokenIn(folder, MADE_UP))
        const whole = folders.findLast((folder) => brokenIn(folder).length === 0)
        // and one that can be moved by export and import without a loss
        if (whole !== undefined) {
          const { before, after } = await transferred(whole, RESULT_CODEC)
          expect(after).toEqual(before)
        }
        for (const folder of folders) rmSync(folder, { recursive: true })
        if (broken.length > 0) throw new Error(`the store is not whole: ${broken.join('; ')}`)
      },
    }
  },
})

/** Start ids and positions that tests of the store make up; in a server they come from the store. */
const MADE_UP: readonly string[] = [
  'start ids come before the next one',
  'each durable consumer stands within the log',
]

/** What does not hold in a store. */
export const brokenIn = (path: string, but: readonly string[] = []): readonly string[] =>
  checkStore(path)
    .findings.filter(({ invariant, broken }) => broken > 0 && !but.includes(invariant))
    .map(({ invariant, examples }) => `${invariant}: ${examples.join(', ')}`)
