import { SchedulerError, StoreUnavailableError } from '../../task/errors.js'
import { StoreOpenError } from '../task-store.js'
import type { Operation } from './operations.js'

/** An error as plain data: class and fields do not cross a thread. */
export interface PlainError {
  readonly name: string
  readonly message: string
  readonly stack: string
  /** SQLite's result code, when it is one of SQLite's. */
  readonly sqlite: number | undefined
}

export type ToThread =
  | { readonly kind: 'do'; readonly id: number; readonly operation: Operation }
  | { readonly kind: 'close' }

export type FromThread =
  | { readonly kind: 'open'; readonly file: string }
  | { readonly kind: 'failedToOpen'; readonly error: PlainError }
  | {
      readonly kind: 'answers'
      readonly answers: readonly ({ readonly id: number } & (
        | { readonly value: unknown }
        | { readonly error: PlainError }
      ))[]
    }
  | { readonly kind: 'closed' }

export function plainError(thrown: unknown): PlainError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  return { name: error.name, message: error.message, stack: error.stack ?? '', sqlite: sqliteCode(error) }
}

function sqliteCode(error: Error): number | undefined {
  const code = (error as { errcode?: unknown }).errcode ?? (error as { sqliteCode?: unknown }).sqliteCode
  return typeof code === 'number' ? code : undefined
}

/** SQLite result codes (https://www.sqlite.org/rescode.html), extended codes in the upper bits. */
const FULL = 13
const TROUBLE: Readonly<Record<number, string>> = {
  5: 'its file is locked by another program',
  6: 'its file is locked by another program',
  8: 'its file has become read-only',
  10: 'the disk reported an error',
  11: 'its file is damaged',
  14: 'its file cannot be opened',
  26: 'its file is no longer a database',
}

/** What the domain throws for an error of the thread. An error of ours is none of the store's trouble and stays as it is. */
export function domainError(plain: PlainError): Error {
  if (plain.name === 'StoreOpenError') return new StoreOpenError(plain.message)
  const primary = plain.sqlite === undefined ? undefined : plain.sqlite & 0xff
  const error = new Error(plain.message)
  error.name = plain.name
  error.stack = plain.stack
  if (primary === FULL)
    return new SchedulerError(
      'STORE_FULL',
      'the disk is full (or the store has reached its size limit): nothing of this call was stored',
      {},
      5_000,
    )
  const trouble = primary === undefined ? undefined : TROUBLE[primary]
  return trouble === undefined
    ? error
    : new StoreUnavailableError(`${trouble} (${plain.message})`, { cause: error })
}
