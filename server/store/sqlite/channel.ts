import type { Durability } from './connection.js'
import type { ReadOperation, WriteOperation } from './operations.js'

/** How the store is opened, wherever it runs. Plain data: it crosses into a thread. */
export interface StoreSettings {
  /** A folder, or `:memory:`. */
  readonly folder: string
  readonly durability: Durability
  /** For the name of a copy made before a migration. */
  readonly nowMs: number
  /** How long a statement waits for another program's lock, in ms. */
  readonly lockWaitMs: number
  /** Bytes of the disk that new tasks leave free. */
  readonly diskReserveBytes: number
  /** The file's largest size in pages; 0 = no limit. */
  readonly maxPages: number
}

/** The way to the place where SQLite runs: another thread, or (in tests) this one. */
export interface Channel {
  /** Opens the store for writing. @throws StoreOpenError */
  open(): Promise<void>
  /** Resolves when reads have a thread of their own, where they have one; they need not wait for it. @throws StoreUnavailableError */
  readable(): Promise<void>
  /** Operations take effect in the order in which they were asked for; resolves after the commit. */
  write(operation: WriteOperation): Promise<unknown>
  /** Beside the writer. */
  read(operation: ReadOperation): Promise<unknown>
  close(): Promise<void>
}
