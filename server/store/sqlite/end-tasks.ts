import type { Connection } from './connection.js'
import { DigitRows } from './digits.js'

const ROW = new DigitRows('?2', { position: 15, due: 15, state: 1, handler: 6 })

export interface End {
  readonly arrival: number
  /** Of its last result. */
  readonly position: number
  readonly due: number
  readonly state: number
  readonly handler: number
}

type Table = 'near' | 'waiting'

/** Moves tasks that have ended from where they waited to the list of ended ones: two statements, whatever their number. */
export class EndTasks {
  readonly #insert
  readonly #remove
  readonly #again
  #ends: Record<Table, End[]> = { near: [], waiting: [] }

  constructor(connection: Connection) {
    const from = (table: Table) =>
      connection.prepare(
        `INSERT INTO ended (arrival, id, position, due, state, handler)
         SELECT t.arrival, t.id, ${ROW.field('position')}, ${ROW.field('due')}, ${ROW.field('state')}, ${ROW.field('handler')}
         FROM json_each(?1) e CROSS JOIN ${table} t ON t.arrival = e.value`,
      )
    const remove = (table: Table) =>
      connection.prepare(`DELETE FROM ${table} WHERE arrival IN (SELECT value FROM json_each(?))`)
    this.#again = connection.prepare(
      'UPDATE ended SET position = ?, due = ?, state = ?, handler = ? WHERE arrival = ?',
    )
    this.#insert = { near: from('near'), waiting: from('waiting') }
    this.#remove = { near: remove('near'), waiting: remove('waiting') }
  }

  add(end: End, table: Table): void {
    this.#ends[table].push(end)
  }

  /** A task that was opened again and has ended in one step. */
  again({ arrival, position, due, state, handler }: End): void {
    this.#again.run(position, due, state, handler, arrival)
  }

  /** Stores what was added. */
  flush(): void {
    this.#flush('near')
    this.#flush('waiting')
  }

  /** After a rollback. */
  forget(): void {
    this.#ends = { near: [], waiting: [] }
  }

  #flush(table: Table): void {
    const ends = this.#ends[table]
    if (ends.length === 0) return
    this.#ends[table] = []
    const arrivals: number[] = []
    const rows = ROW.rows(ends.length)
    for (const { arrival, position, due, state, handler } of ends) {
      arrivals.push(arrival)
      rows.put(position)
      rows.put(due)
      rows.put(state)
      rows.put(handler)
    }
    const list = JSON.stringify(arrivals)
    const stored = this.#insert[table].run(list, rows.bytes).changes
    if (stored !== ends.length) throw new Error(`stored ${stored} of ${ends.length} ends`)
    this.#remove[table].run(list)
  }
}
