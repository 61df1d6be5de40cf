import { SchedulerError, StoreUnavailableError } from '../../task/errors.js'

/** SQLite result codes (https://www.sqlite.org/rescode.html) of what is wrong with the store as a whole, whatever it is asked to do. */
const TROUBLE: Readonly<Record<number, string>> = {
  5: 'its file is locked by another program',
  6: 'its file is locked by another program',
  8: 'its file has become read-only',
  10: 'the disk reported an error',
  11: 'its file is damaged',
  14: 'its file cannot be opened',
  26: 'its file is no longer a database',
}
const FULL = 13

/** SQLite's primary result code, when the error is one of SQLite's. */
function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | undefined)?.errcode
  return typeof code === 'number' ? code & 0xff : undefined
}

/** Whether the store as a whole is at fault, so that nothing else would fare better. */
export function isTrouble(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return true
  const code = sqliteCode(error)
  return code !== undefined && code in TROUBLE
}

/** What the domain is told of an error. One that is none of the store's trouble stays as it is. */
export function domainError(error: Error): Error {
  const code = sqliteCode(error)
  if (code === FULL) return storeFull('the disk is full, or the store has reached its size limit', error)
  const trouble = code === undefined ? undefined : TROUBLE[code]
  return trouble === undefined
    ? error
    : new StoreUnavailableError(`${trouble} (${error.message})`, { cause: error })
}

/** @param why - A clause, such as `the disk is full`. */
export function storeFull(why: string, cause?: unknown): SchedulerError {
  const error = new SchedulerError('STORE_FULL', `${why}: nothing of this call was stored`, {}, 5_000)
  if (cause !== undefined) error.cause = cause
  return error
}
