import { BytesOut } from './bytes-out.js'
import type { Connection } from './connection.js'
import type { Counts } from './counts.js'
import { DigitRows } from './digits.js'
import type { HandlerNumbers } from './handler-numbers.js'
import { idFromKey } from './id-key.js'
import type { Lookup } from './lookup.js'
import { INSERT, type InsertOutcome, type KnownTasks, type PackedInsert } from './operations.js'
import { LIVE_COLUMNS, WAITING_COLUMNS, waitingValues } from './table-columns.js'
import { HEAD, PRIORITY_SHIFT } from './task-head.js'
import { writeRow } from './task-rows.js'

const ROW = new DigitRows('?3', {
  handler: 6,
  state: 1,
  due: 15,
  from: 10,
  headBytes: 8,
  specBytes: 8,
  near: 1,
})
const WAITING = new DigitRows('?8', { shard: 3, priority: 3, notBefore: 15, paused: 1 })

// ?1 keys as JSON · ?2 first arrival · ?3 numbers · ?4 heads and specs · ?5 log position · ?6 indexes to leave out, JSON or null · ?7 only rows with this `near`, or null
const SELECT = `
  SELECT ?2 + e.key, '', ${idFromKey('e.value')}, ${ROW.field('handler')}, ${ROW.field('due')}, ${ROW.field('state')}, 0, NULL, NULL, ?5,
    substr(?4, 1 + ${ROW.field('from')}, ${ROW.field('headBytes')}),
    substr(?4, 1 + ${ROW.field('from')} + ${ROW.field('headBytes')}, ${ROW.field('specBytes')})`
const FROM = `
  FROM json_each(?1) e
  WHERE (?7 IS NULL OR ${ROW.field('near')} = ?7) AND (?6 IS NULL OR e.key NOT IN (SELECT value FROM json_each(?6)))`

interface Known {
  readonly i: number
  readonly arrival: number
}

/** Stores batches of new tasks; ids that are remembered are left alone. */
export class InsertTasks {
  readonly #ids
  readonly #arrivals
  readonly #near
  readonly #waiting
  readonly #handlers: HandlerNumbers
  readonly #lookup: Lookup
  readonly #counts: Counts
  readonly #rows = new BytesOut()

  constructor(connection: Connection, handlers: HandlerNumbers, lookup: Lookup, counts: Counts) {
    this.#ids = connection.prepare(
      `INSERT OR IGNORE INTO ids SELECT '', ${idFromKey('e.value')}, ?2 + e.key FROM json_each(?1) e`,
    )
    this.#arrivals = connection.prepare(
      `SELECT e.key AS i, ids.arrival FROM json_each(?1) e CROSS JOIN ids ON ids.namespace = '' AND ids.id = ${idFromKey('e.value')}`,
    )
    this.#near = connection.prepare(`INSERT INTO near (${LIVE_COLUMNS}) ${SELECT} ${FROM}`)
    const waiting = `${WAITING.field('shard')}, ${WAITING.field('priority')} - ${PRIORITY_SHIFT}, ${WAITING.field('notBefore')}, ${WAITING.field('paused')}`
    this.#waiting = connection.prepare(
      `INSERT INTO waiting (${LIVE_COLUMNS}, ${WAITING_COLUMNS}) ${SELECT}, ${waiting} ${FROM}`,
    )
    this.#handlers = handlers
    this.#lookup = lookup
    this.#counts = counts
  }

  run(insert: PackedInsert, firstArrival: number, logPosition: number): InsertOutcome {
    const added = this.#ids.run(insert.keys, firstArrival).changes
    // The common case pays nothing for conflicts: they show as fewer changes, and only then is each id looked up.
    const known = added === insert.count ? [] : this.#known(insert.keys, firstArrival)
    this.#store(insert, firstArrival, logPosition, known)
    // Read after all are stored: a second request with the id of a first one in the same batch finds that one.
    return { firstArrival, logPosition, ...(known.length > 0 && { known: this.#found(known) }) }
  }

  #known(keys: string, firstArrival: number): Known[] {
    const rows = this.#arrivals.all(keys) as unknown as Known[]
    return rows.filter(({ i, arrival }) => arrival !== firstArrival + i)
  }

  #found(known: readonly Known[]): KnownTasks {
    const indexes: number[] = []
    const logPositions: number[] = []
    for (const { i, arrival } of known) {
      const found = this.#lookup.mustFind(arrival)
      indexes.push(i)
      logPositions.push(found.logPosition)
      writeRow(this.#rows, found.row)
    }
    return { indexes, logPositions, rows: this.#rows.take() }
  }

  #store(insert: PackedInsert, firstArrival: number, logPosition: number, known: readonly Known[]): void {
    const { count, keys, bytes } = insert
    const leftOut = new Set(known.map(({ i }) => i))
    const { rows, nears } = this.#rowsOf(insert, leftOut)
    const leaveOut = known.length === 0 ? null : JSON.stringify([...leftOut])
    const both = nears > 0 && nears < count
    let stored = 0
    if (nears > 0)
      stored += this.#near.run(
        keys,
        firstArrival,
        rows,
        bytes,
        logPosition,
        leaveOut,
        both ? 1 : null,
      ).changes
    if (nears < count) {
      const waiting = waitingRows(insert)
      const only = both ? 0 : null
      stored += this.#waiting.run(
        keys,
        firstArrival,
        rows,
        bytes,
        logPosition,
        leaveOut,
        only,
        waiting,
      ).changes
    }
    if (stored !== count - known.length)
      throw new Error(`stored ${stored} of ${count - known.length} new tasks`)
  }

  #rowsOf(
    { count, numbers, handlers, bytes }: PackedInsert,
    leftOut: ReadonlySet<number>,
  ): { rows: Uint8Array; nears: number } {
    const handlerNumbers = handlers.map((name) => this.#handlers.numberOf(name))
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const rows = ROW.rows(count)
    let nears = 0
    let from = 0
    for (let i = 0, at = 0; i < count; i++, at += INSERT.width) {
      const headBytes = numbers[at + INSERT.headBytes] as number
      const specBytes = numbers[at + INSERT.specBytes] as number
      const near = numbers[at + INSERT.near] as number
      const state = view.getUint8(from + HEAD.state)
      rows.put(handlerNumbers[numbers[at + INSERT.handler] as number] as number)
      rows.put(state)
      rows.put(view.getFloat64(from + HEAD.due, true))
      rows.put(from)
      rows.put(headBytes)
      rows.put(specBytes)
      rows.put(near)
      if (!leftOut.has(i)) this.#counts.add(state, 1)
      nears += near
      from += headBytes + specBytes
    }
    return { rows: rows.bytes, nears }
  }
}

/** What `waiting` has beside the columns that both tables have. */
function waitingRows({ count, numbers, bytes }: PackedInsert): Uint8Array {
  const rows = WAITING.rows(count)
  let from = 0
  for (let at = 0; at < count * INSERT.width; at += INSERT.width) {
    const { shard, priority, notBefore, paused } = waitingValues(bytes.subarray(from))
    rows.put(shard)
    rows.put(priority + PRIORITY_SHIFT)
    rows.put(notBefore)
    rows.put(paused)
    from += (numbers[at + INSERT.headBytes] as number) + (numbers[at + INSERT.specBytes] as number)
  }
  return rows.bytes
}
