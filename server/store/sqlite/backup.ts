import { backup } from '@photostructure/sqlite'
import { statSync } from 'node:fs'
import { StoreOpenError } from '../task-store.js'
import { forgetLogId } from './forget-log-id.js'
import { openSnapshot } from './snapshot.js'
import { wholeFile } from './whole-file.js'

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
  try {
    await wholeFile(to, 'a backup', (partial) => copyStore(partial, { data, onProgress, signal }))
    return statSync(to).size
  } catch (error) {
    if (signal?.aborted || error instanceof StoreOpenError) throw error
    throw new StoreOpenError(`cannot write the backup ${to}: ${(error as Error).message}`, { cause: error })
  }
}

interface Copying {
  readonly data: string
  readonly onProgress: BackupOptions['onProgress'] | undefined
  readonly signal: AbortSignal | undefined
}

async function copyStore(to: string, { data, onProgress, signal }: Copying): Promise<void> {
  signal?.throwIfAborted()
  const snapshot = openSnapshot(data)
  let hasBegun = (): void => {}
  const begun = new Promise<void>((resolve) => {
    hasBegun = resolve
  })
  const copying = backup(snapshot.connection, to, {
    rate: PAGES,
    progress: ({ totalPages, remainingPages }) => {
      hasBegun()
      onProgress?.(1 - remainingPages / totalPages)
    },
  })
  const closing = copying.finally(() => snapshot.close())
  // the copy cannot be stopped: who gives up takes its file away, which it must have made by then, and lets the process end
  await Promise.race([closing, aborted(signal).then(() => Promise.race([begun, copying]))])
  signal?.throwIfAborted()
  forgetLogId(to)
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve(), { once: true })
  })
}
