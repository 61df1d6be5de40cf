import type { Instant } from '../../task/instant.js'
import type { Connection } from './connection.js'
import type { LiveRow } from './lookup.js'

const COLUMNS =
  'arrival, namespace, id, shard, handler, state, paused, priority, due, not_before, created, log_position, start_id, progress, spec'

/** Rows and bytes that one call hands out at most, so that no answer grows without bound. */
const MAX_BYTES = 64 * 1024 * 1024

/** Hands waiting tasks to the scheduler, and takes them back. */
export class Window {
  readonly #priorities
  readonly #first
  readonly #range
  readonly #move
  readonly #forget
  readonly #back
  readonly #forgetNear

  constructor(connection: Connection) {
    // Skips from one priority to the next: 201 at most, so never a walk over the tasks.
    this.#priorities = connection.prepare(`
      WITH RECURSIVE p(x) AS (
        SELECT min(priority) FROM waiting WHERE paused = 0
        UNION ALL SELECT (SELECT min(priority) FROM waiting WHERE paused = 0 AND priority > x) FROM p WHERE x IS NOT NULL
      ) SELECT x FROM p WHERE x IS NOT NULL`)
    this.#first = connection.prepare(
      'SELECT min(not_before) AS first FROM waiting WHERE paused = 0 AND priority = ?',
    )
    this.#range = connection.prepare(
      `SELECT arrival, not_before AS notBefore, length(spec) AS bytes FROM waiting
       WHERE paused = 0 AND priority = ? AND not_before > ? AND not_before <= ? ORDER BY not_before, arrival LIMIT ?`,
    )
    this.#move = connection.prepare(
      `INSERT INTO near (${COLUMNS}) SELECT ${COLUMNS} FROM waiting WHERE arrival IN (SELECT value FROM json_each(?)) RETURNING *`,
    )
    this.#forget = connection.prepare('DELETE FROM waiting WHERE arrival IN (SELECT value FROM json_each(?))')
    this.#back = connection.prepare(
      `INSERT INTO waiting (${COLUMNS}) SELECT ${COLUMNS} FROM near WHERE arrival IN (SELECT value FROM json_each(?))`,
    )
    this.#forgetNear = connection.prepare(
      'DELETE FROM near WHERE arrival IN (SELECT value FROM json_each(?))',
    )
  }

  /** The due ones by start key, then the coming ones by `notBefore`; moved to `near`. */
  take(query: { now: Instant; through: Instant; limit: number; priorityStepMs: number }): LiveRow[] {
    const priorities = (this.#priorities.all() as { x: number }[]).map(({ x }) => x)
    const order = (from: Instant, to: Instant, limit: number, step: number) => {
      const found: { arrival: number; key: number; bytes: number }[] = []
      for (const priority of priorities) {
        const rows = this.#range.all(priority, from, to, limit) as {
          arrival: number
          notBefore: number
          bytes: number
        }[]
        for (const row of rows)
          found.push({ arrival: row.arrival, key: row.notBefore - priority * step, bytes: row.bytes })
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
    const byArrival = new Map((this.#move.all(list) as LiveRow[]).map((row) => [row.arrival, row]))
    this.#forget.run(list)
    return chosen.map((arrival) => byArrival.get(arrival) as LiveRow)
  }

  giveBack(arrivals: readonly number[]): void {
    const list = JSON.stringify(arrivals)
    this.#back.run(list)
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
