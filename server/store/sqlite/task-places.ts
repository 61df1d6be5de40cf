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
  readonly #allNear
  readonly #near
  readonly #waiting
  readonly #ended

  constructor(connection: Connection) {
    this.#allNear = connection.prepare(
      'SELECT e.key AS i, near.state, near.start_id FROM json_each(?) e CROSS JOIN near ON near.arrival = e.value',
    )
    this.#allNear.setReturnArrays(true)
    this.#near = connection.prepare('SELECT state, start_id AS startId FROM near WHERE arrival = ?')
    this.#waiting = connection.prepare('SELECT state, start_id AS startId FROM waiting WHERE arrival = ?')
    this.#ended = connection.prepare('SELECT state, 0 AS startId FROM ended WHERE arrival = ?')
  }

  /** The place of each, in order. */
  ofAll(arrivals: readonly number[]): (Place | undefined)[] {
    const places: (Place | undefined)[] = []
    const near = this.#allNear.all(JSON.stringify(arrivals)) as unknown as [
      i: number,
      state: number,
      startId: number,
    ][]
    for (const [i, state, startId] of near) places[i] = { table: 'near', state, startId }
    if (near.length < arrivals.length)
      for (const [i, arrival] of arrivals.entries()) places[i] ??= this.of(arrival)
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
