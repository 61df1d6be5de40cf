import type { Instant } from '../../task/instant.js'
import type { Connection } from './connection.js'
import { DigitRows } from './digits.js'
import type { LiveRow } from './lookup.js'
import { LIVE_COLUMNS, LIVE_COLUMNS_OF_T, WAITING_COLUMNS, waitingValues } from './table-columns.js'
import { PRIORITY_SHIFT } from './task-head.js'

/** Bytes that one call hands out at most, so that no answer grows without bound. */
const MAX_BYTES = 64 * 1024 * 1024

const ROW = new DigitRows('?2', { shard: 3, priority: 3, notBefore: 15, paused: 1 })
/** The condition of the index, word for word: without it the planner does not take it. */
const WAITS = 'paused = 0 AND state = 1'

interface Candidate {
  readonly arrival: number
  readonly notBefore: Instant
  readonly bytes: number
}

/** Hands waiting tasks to the scheduler, and takes them back. */
export class Window {
  readonly #priorities
  readonly #first
  readonly #range
  readonly #move
  readonly #forget
  readonly #heads
  readonly #back
  readonly #forgetNear

  constructor(connection: Connection) {
    // Skips from one priority to the next: 201 at most, so never a walk over the tasks.
    this.#priorities = connection.prepare(`
      WITH RECURSIVE p(x) AS (
        SELECT min(priority) FROM waiting WHERE ${WAITS}
        UNION ALL SELECT (SELECT min(priority) FROM waiting WHERE ${WAITS} AND priority > x) FROM p WHERE x IS NOT NULL
      ) SELECT x FROM p WHERE x IS NOT NULL`)
    this.#first = connection.prepare(
      `SELECT min(not_before) AS first FROM waiting WHERE ${WAITS} AND priority = ?`,
    )
    this.#range = connection.prepare(
      `SELECT arrival, not_before AS notBefore, length(spec) AS bytes FROM waiting
       WHERE ${WAITS} AND priority = ? AND not_before > ? AND not_before <= ? ORDER BY not_before, arrival LIMIT ?`,
    )
    const among = 'arrival IN (SELECT value FROM json_each(?))'
    this.#move = connection.prepare(
      `INSERT INTO near (${LIVE_COLUMNS}) SELECT ${LIVE_COLUMNS} FROM waiting WHERE ${among} RETURNING *`,
    )
    this.#forget = connection.prepare(`DELETE FROM waiting WHERE ${among}`)
    this.#heads = connection.prepare(
      `SELECT arrival, substr(head, 1, 64) AS head FROM near WHERE ${among} ORDER BY arrival`,
    )
    this.#back = connection.prepare(
      `INSERT INTO waiting (${LIVE_COLUMNS}, ${WAITING_COLUMNS})
       SELECT ${LIVE_COLUMNS_OF_T}, ${ROW.field('shard')}, ${ROW.field('priority')} - ${PRIORITY_SHIFT}, ${ROW.field('notBefore')}, ${ROW.field('paused')}
       FROM json_each(?1) e CROSS JOIN near t ON t.arrival = e.value`,
    )
    this.#forgetNear = connection.prepare(`DELETE FROM near WHERE ${among}`)
  }

  /** The due ones by start key, then the coming ones by `notBefore`; moved to `near`. */
  take(query: { now: Instant; through: Instant; limit: number; priorityStepMs: number }): LiveRow[] {
    const priorities = (this.#priorities.all() as { x: number }[]).map(({ x }) => x)
    const order = (from: Instant, to: Instant, limit: number, step: number) => {
      const found: { arrival: number; key: number; bytes: number }[] = []
      for (const priority of priorities) {
        const rows = this.#range.all(priority, from, to, limit) as unknown as Candidate[]
        for (const { arrival, notBefore, bytes } of rows)
          found.push({ arrival, key: notBefore - priority * step, bytes })
      }
      return found.toSorted((a, b) => a.key - b.key || a.arrival - b.arrival).slice(0, limit)
    }
    const due = order(-1, query.now, query.limit, query.priorityStepMs)
    const coming =
      due.length < query.limit ? order(query.now, query.through, query.limit - due.length, 0) : []
    const chosen: number[] = []
    let bytes = 0
    for (const task of [...due, ...coming]) {
      bytes += task.bytes
      if (bytes > MAX_BYTES && chosen.length > 0) break
      chosen.push(task.arrival)
    }
    if (chosen.length === 0) return []
    const list = JSON.stringify(chosen)
    const moved = this.#move.all(list) as unknown as LiveRow[]
    const byArrival = new Map(moved.map((row) => [row.arrival, row]))
    this.#forget.run(list)
    return chosen.map((arrival) => byArrival.get(arrival) as LiveRow)
  }

  giveBack(arrivals: readonly number[]): void {
    const heads = this.#heads.all(JSON.stringify(arrivals)) as unknown as {
      arrival: number
      head: Uint8Array
    }[]
    if (heads.length === 0) return
    const rows = ROW.rows(heads.length)
    for (const { head } of heads) {
      const { shard, priority, notBefore, paused } = waitingValues(head)
      rows.put(shard)
      rows.put(priority + PRIORITY_SHIFT)
      rows.put(notBefore)
      rows.put(paused)
    }
    const list = JSON.stringify(heads.map(({ arrival }) => arrival))
    this.#back.run(list, rows.bytes)
    this.#forgetNear.run(list)
  }

  /** The earliest `notBefore` of all. */
  next(): Instant | undefined {
    let earliest: Instant | undefined
    for (const { x } of this.#priorities.all() as { x: number }[]) {
      const { first } = this.#first.get(x) as { first: number | null }
      if (first !== null && (earliest === undefined || first < earliest)) earliest = first
    }
    return earliest
  }
}
