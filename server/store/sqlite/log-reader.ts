import type { Instant } from '../../task/instant.js'
import { type LogFilter, type LogPosition, matches } from '../task-store.js'
import { BytesOut } from './bytes-out.js'
import type { Connection } from './connection.js'
import { Counts } from './counts.js'
import { type LogRow, pieces } from './log-body.js'
import { ENTRY, KIND, readEntry } from './log-entry-codec.js'
import { writePageEntry } from './log-page.js'

/** Rows that one page looks at, at most: bounds the time of a page whose filter lets nothing through. */
const MAX_ROWS = 512

export interface PageQuery {
  readonly after: LogPosition
  readonly filter: LogFilter
  readonly maxEntries: number
  readonly maxBytes: number
}

/** A page that is being filled. */
interface Page {
  entries: number
  bytes: number
  through: LogPosition
}

/** Reads the log in short statements: no transaction stays open, so the write-ahead log can always be cut. */
export class LogReader {
  readonly #startRow
  readonly #nextRow
  readonly #lastRow
  readonly #firstSince
  readonly #kept: Counts
  readonly #out = new BytesOut()

  constructor(connection: Connection) {
    this.#startRow = connection.prepare(
      'SELECT max(first_position) AS first FROM log WHERE first_position <= ?',
    )
    this.#nextRow = connection.prepare(
      'SELECT first_position AS first, last_position AS last, commit_time AS time, body FROM log WHERE first_position >= ? ORDER BY first_position LIMIT 1',
    )
    this.#lastRow = connection.prepare(
      'SELECT last_position AS last FROM log ORDER BY first_position DESC LIMIT 1',
    )
    this.#kept = new Counts(connection)
    this.#firstSince = connection.prepare(
      'SELECT first_position AS first FROM log WHERE commit_time >= ? ORDER BY commit_time, first_position LIMIT 1',
    )
  }

  /** A page as `readPage` reads it. */
  page(query: PageQuery): { page: Uint8Array; through: LogPosition } {
    this.#out.clear()
    const after = Math.max(query.after, this.#floor())
    const page: Page = { entries: 0, bytes: 0, through: after }
    let from = (this.#startRow.get(after + 1) as { first: number | null }).first ?? 0
    for (let looked = 0; looked < MAX_ROWS; looked++) {
      const row = this.#nextRow.get(from) as unknown as LogRow | undefined
      if (!row || !this.#add(row, { ...query, after }, page)) break
      from = row.last + 1
    }
    return { page: this.#out.take(), through: page.through }
  }

  positionAt(since: Instant): LogPosition {
    const first = this.#firstSince.get(since) as { first: number } | undefined
    const last = this.#lastRow.get() as { last: number } | undefined
    return Math.max(this.#floor(), first ? first.first - 1 : (last?.last ?? 0))
  }

  /** Where the log begins: what retention has left before it is not read. */
  #floor(): LogPosition {
    this.#kept.reload()
    return this.#kept.logFloor.position
  }

  /** @returns whether the page has room for more. */
  #add({ first, last, time, body }: LogRow, query: PageQuery, page: Page): boolean {
    const { after, filter, maxEntries, maxBytes } = query
    const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
    const all = letsAllThrough(filter)
    for (const [start, end] of pieces(body)) {
      const position = first + view.getUint32(start + ENTRY.offset, true)
      if (position <= after) continue
      if (page.entries >= maxEntries || (page.bytes >= maxBytes && page.entries > 0)) return false
      page.through = position
      const isWanted = all
        ? filter.includeAttempts || view.getUint8(start + ENTRY.kind) === KIND.result
        : matches(filter, readEntry(body.subarray(start, end)))
      if (!isWanted) continue
      const before = this.#out.length
      writePageEntry(this.#out, { position, commitTime: time }, body, start)
      page.entries += 1
      page.bytes += this.#out.length - before
    }
    page.through = Math.max(page.through, last)
    return true
  }
}

/** Whether nothing but the kind of an entry is asked for, so that entries need not be unpacked. */
function letsAllThrough({ taskIds, handlers, labels, outcomes, origins }: LogFilter): boolean {
  for (const _ in labels) return false
  return taskIds.size + handlers.size + outcomes.size + origins.size === 0
}
