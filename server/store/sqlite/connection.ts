import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'

export type Connection = DatabaseSyncInstance

/** How much an acknowledgement promises: `full` = on disk, `relaxed` = survives a crash of the process, not of the machine. */
export type Durability = 'full' | 'relaxed'

export interface ConnectionOptions {
  readonly readOnly?: boolean
  readonly durability?: Durability
  /** How long a statement waits for another process' lock, in ms. Default 250: the thread is blocked meanwhile, and callers get UNAVAILABLE after. */
  readonly lockWaitMs?: number
  /** Page cache in KiB. */
  readonly cacheKiB?: number
}

/**
 * Opens one connection with every pragma said explicitly: SQLite's defaults differ between the session that creates a WAL and later ones.
 * Page size, checkpoint distance and cache are from docs/decisions/store-layout.md.
 */
export function openConnection(file: string, options: ConnectionOptions = {}): Connection {
  const connection = new DatabaseSync(file, {
    readOnly: options.readOnly ?? false,
    timeout: options.lockWaitMs ?? 250,
  })
  try {
    if (options.readOnly) {
      connection.exec('PRAGMA query_only = ON')
    } else {
      connection.exec(`
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = ${options.durability === 'relaxed' ? 'NORMAL' : 'FULL'};
        PRAGMA wal_autocheckpoint = 4000;
        PRAGMA journal_size_limit = 67108864;
      `)
    }
    connection.exec(`
      PRAGMA cache_size = -${options.cacheKiB ?? 32_768};
      PRAGMA temp_store = MEMORY;
      PRAGMA trusted_schema = OFF;
    `)
  } catch (error) {
    connection.close()
    throw error
  }
  return connection
}

/** A bare connection on a file that is only ever locked. Does not wait: who holds the lock keeps it. */
export const openLockFile = (file: string): Connection => new DatabaseSync(file, { timeout: 0 })
