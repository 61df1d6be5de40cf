import { fileURLToPath } from 'node:url'
import type { SqliteStore } from '../../server/store/sqlite/sqlite-store.js'

const BUILT = new URL('../../dist/server/store/sqlite/sqlite-store.js', import.meta.url)
const built = (await import(fileURLToPath(BUILT))) as {
  readonly SqliteStore: typeof SqliteStore
}

/** The store of the built package: its threads start from JavaScript, as they do for users. */
export const BuiltStore = built.SqliteStore
