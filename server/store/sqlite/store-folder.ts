import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StoreOpenError } from '../task-store.js'
import type { StoreSettings } from './channel.js'
import { type Connection, openConnection, openLockFile } from './connection.js'
import { APPLICATION_ID, migrate } from './migrate.js'
import { checkHeader } from './store-header.js'
import { StoreRoom } from './store-room.js'

/** Files of a data folder. */
export const STORE_FILE = 'punctual.db'
const LOCK_FILE = 'punctual.lock'

export interface OpenStore {
  readonly connection: Connection
  /** '' for `:memory:`. */
  readonly file: string
  readonly room: StoreRoom
  /** Releases the folder. */
  close(): void
}

/**
 * Opens a data folder for its one server: takes the folder's lock, refuses what is not ours, migrates, opens.
 *
 * @param settings - `folder`: made if it does not exist; `:memory:` = a store that ends with the process.
 * @throws StoreOpenError with one line that names the path and says what would be right. The files are left as they were.
 */
export function openStoreFolder(settings: StoreSettings): OpenStore {
  const { folder } = settings
  if (folder === ':memory:') return openFile(':memory:', settings)
  makeFolder(folder)
  const file = join(folder, STORE_FILE)
  checkFile(file)
  const lock = lockFolder(folder)
  try {
    stamp(file)
    const opened = openFile(file, settings)
    return {
      ...opened,
      close() {
        opened.close()
        lock.close()
      },
    }
  } catch (error) {
    lock.close()
    if (error instanceof StoreOpenError) throw error
    throw new StoreOpenError(`cannot use the store ${file}: ${(error as Error).message}`, { cause: error })
  }
}

function openFile(name: string, settings: StoreSettings): OpenStore {
  const connection = openConnection(name, settings)
  const file = name === ':memory:' ? '' : name
  try {
    migrate(connection, file, settings.nowMs)
    if (settings.maxPages > 0) connection.exec(`PRAGMA max_page_count = ${settings.maxPages}`)
    const room = new StoreRoom(connection, file, settings.diskReserveBytes)
    return { connection, file, room, close: () => closeFile(connection) }
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Leaves everything in the one file: a statement that nobody has collected yet keeps SQLite from doing it by itself. */
function closeFile(connection: Connection): void {
  try {
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  } catch {
    // what is in the write-ahead log is found there the next time
  }
  connection.close()
}

/** @throws StoreOpenError when it cannot be made, or is no folder. */
export function makeFolder(folder: string): void {
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
  checkHeader(file)
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

/** One server a folder: a lock that the operating system releases when the process dies, however it dies. */
export function lockFolder(folder: string): Connection {
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
