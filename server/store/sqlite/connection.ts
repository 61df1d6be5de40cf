import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'

export type Connection = DatabaseSyncInstance

/** How much an acknowledgement promises: `full` = on disk, `relaxed` = survives a crash of the process, not of the machine. */
export type Durability = 'full' | 'relaxed'

export interface ConnectionOptions {
  readonly readOnly?: boolean
  readonly durability?: Durability
  /** How long a statement waits for another program's lock, in ms; the thread is blocked meanwhile. Default 250. */
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

/**
 * Opens a new file that is thrown away if anything goes wrong before it is whole: without a journal, and without syncs on the way. It is on
 * disk only after a sync.
 */
export function openDraft(file: string): Connection {
  const connection = new DatabaseSync(file)
  connection.exec(`
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -65536;
    PRAGMA temp_store = MEMORY;
    PRAGMA trusted_schema = OFF;
  `)
  return connection
}

/** What durability rests on, as SQLite says it: for the log, so that a difference between two starts would show. */
export function pragmasOf(connection: Connection): Record<string, string | number> {
  const value = (name: string) =>
    Object.values(connection.prepare(`PRAGMA ${name}`).get() as Record<string, string | number>)[0] ?? ''
  return {
    sqlite: (connection.prepare('SELECT sqlite_version() AS version').get() as { version: string }).version,
    journalMode: value('journal_mode'),
    synchronous: value('synchronous'),
    busyTimeoutMs: value('busy_timeout'),
    pageSize: value('page_size'),
  }
}

/** A bare connection on a file that is only ever locked. Does not wait: who holds the lock keeps it. */
export const openLockFile = (file: string): Connection => new DatabaseSync(file, { timeout: 0 })
