import type { LogPosition } from '../store/task-store.js'
import { SchedulerError } from '../task/errors.js'

const VERSION = '1'
/** Longer than any cursor that a server made. */
const MAX_CHARS = 256

/**
 * Makes a cursor: text for callers, opaque so that nobody counts with it. It names its log, for the same position of a restored store is another place.
 *
 * @example toCursor('018f…', 42)
 */
export function toCursor(logId: string, position: LogPosition): string {
  return Buffer.from(`${VERSION}:${position}:${logId}`).toString('base64url')
}

/**
 * The position that a cursor holds.
 *
 * @throws SchedulerError CURSOR_UNKNOWN for a text that no server made; LOG_REPLACED for a cursor of another log.
 */
export function fromCursor(cursor: string, logId: string): LogPosition {
  const match = cursor.length <= MAX_CHARS && PATTERN.exec(Buffer.from(cursor, 'base64url').toString())
  const position = match ? Number(match[1]) : Number.NaN
  if (!match || !Number.isSafeInteger(position) || toCursor(match[2] ?? '', position) !== cursor) {
    throw new SchedulerError(
      'CURSOR_UNKNOWN',
      'this is no cursor: send one exactly as a response gave it, or start at a position or a time',
    )
  }
  if (match[2] !== logId) throw logReplaced(logId, 'the cursor belongs to another log')
  return position
}

const PATTERN = new RegExp(`^${VERSION}:(\\d{1,16}):(.{1,128})$`, 's')

/** For a cursor whose place this log does not have, such as one from before a restore. */
export function logReplaced(logId: string, why: string): SchedulerError {
  return new SchedulerError(
    'LOG_REPLACED',
    `${why}: this store was restored, imported or made anew. Start at EARLIEST or at a time`,
    { log_id: logId },
  )
}
