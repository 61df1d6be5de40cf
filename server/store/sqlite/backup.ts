import { backup } from '@photostructure/sqlite'
import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreOpenError } from '../task-store.js'
import { forgetLogId } from './forget-log-id.js'
import { openSnapshot } from './snapshot.js'

/** Pages a step: 8 MiB, so that progress is seen and little is said. */
const PAGES = 2_048

export interface BackupOptions {
  /** The data folder. */
  readonly data: string
  /** Where the copy goes: a file that does not exist. */
  readonly to: string
  /** From 0 to 1. */
  readonly onProgress?: (done: number) => void
  /** Gives up; nothing is left behind. */
  readonly signal?: AbortSignal
}

/**
 * Copies a store to one file, beside a server that may be writing, as it is at one moment. The copy has no log id: whoever starts from it gets a new one, so that
 * a cursor of the old log is refused instead of reading other results.
 *
 * Pages are copied as they are, inside one read transaction: without it, each commit of the server would make SQLite start over.
 *
 * @returns the size of the copy, in bytes.
 * @throws StoreOpenError when there is no store, or something is at `to` already.
 * @example await backupStore({ data: '/var/lib/punctual', to: '/backups/monday.db' })
 */
export async function backupStore({ data, to, onProgress, signal }: BackupOptions): Promise<number> {
  mustNotExist(to)
  const snapshot = openSnapshot(data)
  const partial = `${to}.partial-${randomUUID().slice(0, 8)}`
  try {
    const copying = backup(snapshot.connection, partial, {
      rate: PAGES,
      progress: ({ totalPages, remainingPages }) => onProgress?.(1 - remainingPages / totalPages),
    })
    await Promise.race([copying, aborted(signal)])
    snapshot.close()
    forgetLogId(partial)
    sync(partial)
    mustNotExist(to)
    renameSync(partial, to)
    sync(dirname(to))
    return statSync(to).size
  } catch (error) {
    // while it is being read it cannot be closed: who gave up lets the process end instead
    if (!signal?.aborted) snapshot.close()
    for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(partial + ending, { force: true })
    if (signal?.aborted || error instanceof StoreOpenError) throw error
    throw new StoreOpenError(`cannot write the backup ${to}: ${(error as Error).message}`, { cause: error })
  }
}

function mustNotExist(to: string): void {
  if (existsSync(to)) throw new StoreOpenError(`${to} exists already; a backup overwrites nothing`)
  if (!existsSync(dirname(to))) throw new StoreOpenError(`there is no folder ${dirname(to)}`)
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

function sync(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
