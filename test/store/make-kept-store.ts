/**
 * Makes the kept store file of the present schema, once, when a version is released: `npx tsx test/store/make-kept-store.ts`.
 * The file of an older schema is never made anew: it is what that version wrote.
 */
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SCHEMA_VERSION } from '../../server/store/sqlite/migrate.js'
import { fillStore } from './filled-store.js'
import { sqliteStore, temporaryFolder } from './sqlite-worlds.js'
import { START } from './stored-tasks.js'

const file = `test/store/kept/schema-${String(SCHEMA_VERSION).padStart(4, '0')}.db`
if (existsSync(file)) throw new Error(`${file} is kept as it is; a new schema gets a file of its own`)
const folder = temporaryFolder()
const store = sqliteStore({ folder, now: () => START })
await store.open()
await fillStore(store)
await store.close()
renameSync(join(folder, 'punctual.db'), file)
rmSync(folder, { recursive: true })
