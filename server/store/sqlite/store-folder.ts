import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StoreOpenError } from '../task-store.js'
import { type Connection, type ConnectionOptions, openConnection, openLockFile } from './connection.js'
import { APPLICATION_ID, migrate, SCHEMA_VERSION } from './migrate.js'

/** Files of a data folder. */
export const STORE_FILE = 'punctual.db'
const LOCK_FILE = 'punctual.lock'

export interface OpenStore {
  readonly connection: Connection
  /** '' for `:memory:`. */
  readonly file: string
  /** Releases the folder. */
  close(): void
}

/**
 * Opens a data folder for its one server: takes the folder's lock, refuses what is not ours, migrates, opens.
 *
 * @param folder - Made if it does not exist; `:memory:` = a store that ends with the process.
 * @throws StoreOpenError with one line that names the path and says what would be right. The files are left as they were.
 */
export function openStoreFolder(
  folder: string,
  options: ConnectionOptions & { readonly nowMs: number },
): OpenStore {
  if (folder === ':memory:') {
    const connection = openConnection(':memory:', options)
    migrate(connection, '', options.nowMs)
    return { connection, file: '', close: () => connection.close() }
  }
  makeFolder(folder)
  const file = join(folder, STORE_FILE)
  checkFile(file)
  const lock = lockFolder(folder)
  try {
    stamp(file)
    const connection = openConnection(file, options)
    try {
      migrate(connection, file, options.nowMs)
    } catch (error) {
      connection.close()
      throw error
    }
    return {
      connection,
      file,
      close() {
        connection.close()
        lock.close()
      },
    }
  } catch (error) {
    lock.close()
    if (error instanceof StoreOpenError) throw error
    throw new StoreOpenError(`cannot use the store ${file}: ${(error as Error).message}`, { cause: error })
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new StoreOpenError(`cannot make the data folder ${folder}: ${(error as Error).message}`, {
      cause: error,
    })
  }
  if (!statSync(folder).isDirectory()) throw new StoreOpenError(`the data folder ${folder} is not a folder`)
}

/** Looks at the file without opening it as a database, so that a foreign file stays untouched. */
function checkFile(file: string): void {
  if (!existsSync(file)) return
  const stat = statSync(file)
  if (!stat.isFile()) throw new StoreOpenError(`${file} is not a file; give a folder of its own to --data`)
  // The mode bits are asked, not access(): root may write a file that its owner has made read-only.
  if ((stat.mode & 0o222) === 0)
    throw new StoreOpenError(
      `the store ${file} is read-only; make it writable, or give another folder to --data`,
    )
  const header = readHeader(file)
  if (header.length === 0) return
  if (header.length < 100 || header.toString('latin1', 0, 15) !== 'SQLite format 3')
    throw new StoreOpenError(
      `${file} is not a Punctual store (not an SQLite file); give another folder to --data`,
    )
  const application = header.readUInt32BE(68)
  if (application !== APPLICATION_ID)
    throw new StoreOpenError(`${file} is an SQLite file of another program; give another folder to --data`)
  const version = header.readUInt32BE(60)
  if (version > SCHEMA_VERSION)
    throw new StoreOpenError(
      `the store ${file} was written by a newer Punctual (schema ${version}; this one knows up to ${SCHEMA_VERSION}); run that version`,
    )
}

/** Marks a new file as ours before it gets a write-ahead log, so that the mark is in the file itself from the first moment. */
function stamp(file: string): void {
  if (existsSync(file) && statSync(file).size > 0) return
  const connection = openLockFile(file)
  try {
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  } finally {
    connection.close()
  }
}

function readHeader(file: string): Buffer {
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch (error) {
    throw new StoreOpenError(`cannot read the store ${file}: ${(error as Error).message}`, { cause: error })
  }
  try {
    const header = Buffer.alloc(Math.min(100, fstatSync(handle).size))
    readSync(handle, header, 0, header.length, 0)
    return header
  } finally {
    closeSync(handle)
  }
}

/** One server a folder: a lock that the operating system releases when the process dies, however it dies. */
function lockFolder(folder: string): Connection {
  let lock: Connection | undefined
  try {
    lock = openLockFile(join(folder, LOCK_FILE))
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return lock
  } catch (error) {
    lock?.close()
    if (/locked|busy/i.test((error as Error).message))
      throw new StoreOpenError(
        `another server uses the data folder ${folder}; stop it, or give another folder to --data`,
      )
    throw new StoreOpenError(`cannot lock the data folder ${folder}: ${(error as Error).message}`, {
      cause: error,
    })
  }
}
