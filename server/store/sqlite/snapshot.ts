import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StoreOpenError } from '../task-store.js'
import { type Connection, openConnection } from './connection.js'
import { SCHEMA_VERSION } from './migrate.js'
import { STORE_FILE } from './store-folder.js'
import { checkHeader } from './store-header.js'

export interface Snapshot {
  readonly file: string
  readonly connection: Connection
  close(): void
}

/**
 * Opens a store as it is at this moment, read-only, beside a server that may be writing: what is committed later is not seen.
 * While it is open the write-ahead log cannot be cut, so it is to be closed soon.
 *
 * @param path - A data folder, or a file such as a backup.
 * @throws StoreOpenError with one line that names the path.
 */
export function openSnapshot(path: string): Snapshot {
  const file = fileOf(path)
  checkHeader(file)
  let connection: Connection | undefined
  try {
    connection = openConnection(file, { readOnly: true, lockWaitMs: 10_000 })
    connection.exec('BEGIN')
    mustBeCurrent(connection, file)
    const opened = connection
    return { file, connection: opened, close: () => closeSnapshot(opened) }
  } catch (error) {
    connection?.close()
    if (error instanceof StoreOpenError) throw error
    throw new StoreOpenError(`cannot read the store ${file}: ${(error as Error).message}`, { cause: error })
  }
}

/** Ends the transaction first: a statement that nobody has collected yet would keep it, and its lock, alive past the close. */
function closeSnapshot(connection: Connection): void {
  if (!connection.isOpen) return
  if (connection.isTransaction) connection.exec('ROLLBACK')
  connection.close()
}

/** Asked of the database, not of the file's header: a young store may have its tables in the write-ahead log alone. */
function mustBeCurrent(connection: Connection, file: string): void {
  const { user_version: version } = connection.prepare('PRAGMA user_version').get() as {
    user_version: number
  }
  if (version === 0) throw new StoreOpenError(`${file} is empty: no server has used it yet`)
  if (version < SCHEMA_VERSION)
    throw new StoreOpenError(
      `the store ${file} is of an older Punctual (schema ${version}; this one reads ${SCHEMA_VERSION}); start a server on it once, or use that version`,
    )
}

function fileOf(path: string): string {
  if (!existsSync(path)) throw new StoreOpenError(`there is no ${path}`)
  if (!statSync(path).isDirectory()) return path
  const file = join(path, STORE_FILE)
  if (!existsSync(file)) throw new StoreOpenError(`there is no store in ${path}: it has no ${STORE_FILE}`)
  return file
}
