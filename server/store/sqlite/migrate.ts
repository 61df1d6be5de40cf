import { readdirSync, readFileSync } from 'node:fs'
import { StoreOpenError } from '../task-store.js'
import type { Connection } from './connection.js'
import { forgetLogId } from './forget-log-id.js'

/** 'PUNC' in the file header: how we know our own. */
export const APPLICATION_ID = 0x50554e43

/** The steps from an empty file to a schema, in order. */
export interface Migrations {
  readonly folder: URL
  readonly names: readonly string[]
}

/** The migrations of a folder: `0001-what.sql`, numbered without a gap. */
export const migrationsIn = (folder: URL): Migrations => ({
  folder,
  names: readdirSync(folder)
    .filter((name) => /^\d{4}-.*\.sql$/.test(name))
    .toSorted(),
})

const OURS = migrationsIn(new URL('./migrations/', import.meta.url))

/** The newest schema: the number of the last migration. */
export const SCHEMA_VERSION = OURS.names.length

/**
 * Brings a store to the newest schema, one transaction a migration. Before the first one of an existing store a copy is kept beside it
 * (`punctual.db.before-<schema>-<ms>`). A migration that has been released is never changed: a new one follows it.
 */
export function migrate(
  connection: Connection,
  file: string,
  nowMs: number,
  { folder, names }: Migrations = OURS,
): void {
  const newest = names.length
  const version = (connection.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
  if (version > newest)
    throw new StoreOpenError(
      `the store ${file} was written by a newer Punctual (schema ${version}; this one knows up to ${newest}); run that version`,
    )
  if (version > 0 && version < newest && file !== '') {
    const copy = `${file}.before-${newest}-${nowMs}`
    connection.prepare('VACUUM INTO ?').run(copy)
    forgetLogId(copy)
  }
  for (let next = version + 1; next <= newest; next++) {
    const name = names[next - 1] as string
    connection.exec('BEGIN IMMEDIATE')
    try {
      connection.exec(readFileSync(new URL(name, folder), 'utf8'))
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
