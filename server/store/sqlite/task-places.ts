import type { Connection } from './connection.js'

/** Where a task is stored now, as far as an update needs to know. */
export interface Place {
  readonly table: 'near' | 'waiting' | 'ended'
  readonly state: number
  /** Of an ended task 0: its starts are over. */
  readonly startId: number
}

/** Finds out where tasks are stored. */
export class TaskPlaces {
  readonly #all: readonly (readonly [Place['table'], ReturnType<Connection['prepare']>])[]
  readonly #near
  readonly #waiting
  readonly #ended

  constructor(connection: Connection) {
    this.#all = (['near', 'waiting'] as const).map((table) => {
      const all = connection.prepare(
        `SELECT e.key AS i, t.state, t.start_id FROM json_each(?) e CROSS JOIN ${table} t ON t.arrival = e.value`,
      )
      all.setReturnArrays(true)
      return [table, all] as const
    })
    this.#near = connection.prepare('SELECT state, start_id AS startId FROM near WHERE arrival = ?')
    this.#waiting = connection.prepare('SELECT state, start_id AS startId FROM waiting WHERE arrival = ?')
    this.#ended = connection.prepare('SELECT state, 0 AS startId FROM ended WHERE arrival = ?')
  }

  /** The place of each, in order: a statement or two when all are live, whatever their number. */
  ofAll(arrivals: readonly number[]): (Place | undefined)[] {
    const places: (Place | undefined)[] = []
    const list = JSON.stringify(arrivals)
    let found = 0
    for (const [table, statement] of this.#all) {
      if (found === arrivals.length) return places
      const rows = statement.all(list) as unknown as [i: number, state: number, startId: number][]
      for (const [i, state, startId] of rows) places[i] = { table, state, startId }
      found += rows.length
    }
    if (found < arrivals.length) for (const [i, arrival] of arrivals.entries()) places[i] ??= this.of(arrival)
    return places
  }

  of(arrival: number): Place | undefined {
    for (const [table, statement] of [
      ['near', this.#near],
      ['waiting', this.#waiting],
      ['ended', this.#ended],
    ] as const) {
      const row = statement.get(arrival) as { state: number; startId: number } | undefined
      if (row) return { table, ...row }
    }
    return undefined
  }
}
