import { readdirSync, readFileSync } from 'node:fs'
import { StoreOpenError } from '../task-store.js'
import type { Connection } from './connection.js'

/** 'PUNC' in the file header: how we know our own. */
export const APPLICATION_ID = 0x50554e43

const FOLDER = new URL('./migrations/', import.meta.url)
const FILES = readdirSync(FOLDER)
  .filter((name) => /^\d{4}-.*\.sql$/.test(name))
  .toSorted()

/** The newest schema: the number of the last migration. */
export const SCHEMA_VERSION = FILES.length

/**
 * Brings a store to the newest schema, one transaction a migration. Before the first one of an existing store a copy is kept beside it
 * (`punctual.db.before-<version>`).
 */
export function migrate(connection: Connection, file: string, nowMs: number): void {
  const version = (connection.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
  if (version > SCHEMA_VERSION)
    throw new StoreOpenError(
      `the store ${file} was written by a newer Punctual (schema ${version}; this one knows up to ${SCHEMA_VERSION}); run that version`,
    )
  if (version > 0 && version < SCHEMA_VERSION && file !== '')
    connection.prepare('VACUUM INTO ?').run(`${file}.before-${SCHEMA_VERSION}-${nowMs}`)
  for (let next = version + 1; next <= SCHEMA_VERSION; next++) {
    const name = FILES[next - 1] as string
    connection.exec('BEGIN IMMEDIATE')
    try {
      connection.exec(readFileSync(new URL(name, FOLDER), 'utf8'))
      connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${next}; COMMIT`)
    } catch (error) {
      connection.exec('ROLLBACK')
      throw new StoreOpenError(
        `the migration ${name} of ${file} failed: ${(error as Error).message}; the store is as it was`,
        {
          cause: error,
        },
      )
    }
  }
}
