import { BytesOut } from './bytes-out.js'
import { type Connection, pragmasOf } from './connection.js'
import type { Counts } from './counts.js'
import { LIVE_COLUMNS } from './table-columns.js'
import type { LogAppender } from './log-appender.js'
import { writePageEntry } from './log-page.js'
import type { LiveRow, Lookup } from './lookup.js'
import type { Meta } from './meta.js'
import type { Found, RecoveryOutcome, WriteOperation } from './operations.js'
import type { StoreRoom } from './store-room.js'
import { type TaskRow, writeRow } from './task-rows.js'
import type { Window } from './window.js'

export interface QuestionParts {
  readonly lookup: Lookup
  readonly counts: Counts
  readonly log: LogAppender
  readonly meta: Meta
  readonly window: Window
  readonly room: StoreRoom
}

type Question = Extract<WriteOperation, { kind: 'get' | 'findResult' | 'nextWaiting' | 'stats' }>

/** What the writer is asked in turn with its changes, so that answers know all that came before. */
export class Questions {
  readonly #connection: Connection
  readonly #parts: QuestionParts
  readonly #held
  readonly #out = new BytesOut()

  constructor(connection: Connection, parts: QuestionParts) {
    this.#connection = connection
    this.#parts = parts
    this.#held = connection.prepare(`SELECT ${LIVE_COLUMNS} FROM near ORDER BY arrival`)
  }

  answer(question: Question): unknown {
    const { lookup, counts, log, window, room } = this.#parts
    switch (question.kind) {
      case 'get':
        return this.#found(lookup.byIds(question.ids))
      case 'findResult':
        return this.#result(question.id, question.run)
      case 'nextWaiting':
        return window.next()
      case 'stats':
        return {
          states: counts.byState(),
          bytes: room.bytes(),
          resultBytes: counts.get('logBytes'),
          logEntries: counts.get('log'),
          earliest: counts.logFloor.position,
          latest: log.latest,
        }
    }
  }

  /** What a process finds; the store is in its hands from now on. */
  recover(): RecoveryOutcome {
    const { meta, lookup, counts } = this.#parts
    const { cleanStop } = meta
    meta.cleanStop = false
    const held = this.#held.all() as unknown as LiveRow[]
    const rows = this.pack(held.map((row) => lookup.rowOf(row)))
    return {
      cleanStop,
      logId: meta.logId(),
      lastChange: counts.lastChange,
      rows,
      pragmas: pragmasOf(this.#connection),
    }
  }

  pack(rows: readonly TaskRow[]): Uint8Array {
    this.#out.clear()
    for (const row of rows) writeRow(this.#out, row)
    return this.#out.take()
  }

  #found(rows: readonly (TaskRow | undefined)[]): Found {
    return {
      known: rows.map((row) => row !== undefined),
      rows: this.pack(rows.filter((row) => row !== undefined)),
    }
  }

  /** A page with one entry, if there is one. */
  #result(id: string, run: number | undefined): Uint8Array {
    const found = this.#parts.lookup.result(id, run)
    this.#out.clear()
    if (found) writePageEntry(this.#out, found, found.entry, 0)
    return this.#out.take()
  }
}
