import type { Instant } from '../../task/instant.js'
import { type LogEntry, type LogFilter, type LogPosition, matches } from '../task-store.js'
import type { Connection } from './connection.js'
import { readBody } from './log-body.js'
import { ListTasks } from './list-tasks.js'
import type { ReadOperation } from './operations.js'

/** Log rows that one page looks at, at most: bounds the time of a page whose filter matches nothing. */
const MAX_ROWS_LOOKED_AT = 512

/** Reads on a connection of its own, in short statements: no transaction stays open, so the write-ahead log can always be cut. */
export class StoreReader {
  readonly #list: ListTasks
  readonly #startRow
  readonly #nextRow
  readonly #lastRow
  readonly #firstSince

  constructor(connection: Connection) {
    this.#list = new ListTasks(connection)
    this.#startRow = connection.prepare(
      'SELECT max(first_position) AS first FROM log WHERE first_position <= ?',
    )
    this.#nextRow = connection.prepare(
      'SELECT first_position AS first, last_position AS last, commit_time AS time, body FROM log WHERE first_position >= ? ORDER BY first_position LIMIT 1',
    )
    this.#lastRow = connection.prepare(
      'SELECT last_position AS last FROM log ORDER BY first_position DESC LIMIT 1',
    )
    this.#firstSince = connection.prepare(
      'SELECT first_position AS first FROM log WHERE commit_time >= ? ORDER BY commit_time, first_position LIMIT 1',
    )
  }

  run(operation: ReadOperation): unknown {
    switch (operation.kind) {
      case 'list':
        return this.#list.run(operation.query)
      case 'readLog':
        return this.#read(operation)
      case 'positionAt':
        return this.#positionAt(operation.since)
    }
  }

  #read(query: { after: LogPosition; filter: LogFilter; maxEntries: number; maxBytes: number }): {
    entries: LogEntry[]
    through: LogPosition
  } {
    const entries: LogEntry[] = []
    let through = query.after
    let bytes = 0
    let from = (this.#startRow.get(query.after + 1) as { first: number | null }).first ?? 0
    for (let looked = 0; looked < MAX_ROWS_LOOKED_AT; looked++) {
      const row = this.#nextRow.get(from) as
        | { first: number; last: number; time: number; body: Uint8Array }
        | undefined
      if (!row) break
      from = row.last + 1
      if (row.last <= query.after) continue
      for (const entry of readBody(row.body)) {
        const position = row.first + entry.offset
        if (position <= query.after) continue
        if (entries.length >= query.maxEntries || (bytes >= query.maxBytes && entries.length > 0))
          return { entries, through }
        through = position
        if (!matches(query.filter, entry)) continue
        const { offset: _offset, arrival: _arrival, task: _task, ...rest } = entry
        entries.push({ ...rest, position, commitTime: row.time })
        bytes += rest.bytes.length
      }
      through = row.last
    }
    return { entries, through }
  }

  #positionAt(since: Instant): LogPosition {
    const first = this.#firstSince.get(since) as { first: number } | undefined
    if (first) return first.first - 1
    return (this.#lastRow.get() as { last: number } | undefined)?.last ?? 0
  }
}
