import type { Connection } from './connection.js'
import type { HandlerNumbers } from './handler-numbers.js'
import { idFromKey, idKey, idOf } from './id-key.js'
import type { LogAppender } from './log-appender.js'
import { LogBody, type LogRow } from './log-body.js'
import { isOutline, readEntry, runOf, type StoredEntry } from './log-entry-codec.js'
import { BytesIn } from './bytes-in.js'
import { LIVE_COLUMNS, LIVE_COLUMNS_OF_T } from './table-columns.js'
import type { TaskRow } from './task-rows.js'

/** A row of `near` or `waiting`: LIVE_COLUMNS. */
export interface LiveRow {
  readonly arrival: number
  readonly id: unknown
  readonly handler: number
  readonly due: number
  readonly state: number
  readonly start_id: number
  readonly attempts: number | null
  readonly start_us: number | null
  readonly log_position: number
  readonly head: Uint8Array
  readonly spec: Uint8Array
}

export interface FoundTask {
  readonly row: TaskRow
  readonly logPosition: number
}

export interface FoundEntry {
  readonly position: number
  readonly commitTime: number
  /** Packed: `readEntry`. */
  readonly entry: Uint8Array
}

/** Finds single tasks and results by key: never a scan. */
export class Lookup {
  readonly #handlers: HandlerNumbers
  readonly #log: LogAppender | undefined
  readonly #arrivals
  readonly #near
  readonly #waiting
  readonly #manyNear
  readonly #manyWaiting
  readonly #ended
  readonly #body
  readonly #run
  readonly #newestRun
  #read: LogBody | undefined

  /** @param log - The writer's, which holds entries of the commit under way. */
  constructor(connection: Connection, handlers: HandlerNumbers, log?: LogAppender) {
    this.#handlers = handlers
    this.#log = log
    this.#arrivals = connection.prepare(
      `SELECT e.key AS i, ids.arrival FROM json_each(?1) e CROSS JOIN ids ON ids.namespace = '' AND ids.id = ${idFromKey('e.value')}`,
    )
    this.#near = connection.prepare(`SELECT ${LIVE_COLUMNS} FROM near WHERE arrival = ?`)
    this.#waiting = connection.prepare(`SELECT ${LIVE_COLUMNS} FROM waiting WHERE arrival = ?`)
    const many = (table: 'near' | 'waiting') =>
      connection.prepare(
        `SELECT ${LIVE_COLUMNS_OF_T} FROM json_each(?1) e CROSS JOIN ${table} t ON t.arrival = e.value`,
      )
    this.#manyNear = many('near')
    this.#manyWaiting = many('waiting')
    this.#ended = connection.prepare('SELECT position FROM ended WHERE arrival = ?')
    this.#body = connection.prepare(
      'SELECT first_position AS first, last_position AS last, commit_time AS time, body FROM log WHERE first_position <= ? ORDER BY first_position DESC LIMIT 1',
    )
    this.#run = connection.prepare('SELECT position FROM runs WHERE arrival = ? AND run = ?')
    this.#newestRun = connection.prepare(
      'SELECT position FROM runs WHERE arrival = ? ORDER BY run DESC LIMIT 1',
    )
  }

  /** Tasks by id, in order. */
  byIds(ids: readonly string[]): (TaskRow | undefined)[] {
    const found: (TaskRow | undefined)[] = Array.from({ length: ids.length })
    const known = this.#arrivals.all(JSON.stringify(ids.map(idKey))) as { i: number; arrival: number }[]
    const live = this.#allLive(known.map(({ arrival }) => arrival))
    for (const { i, arrival } of known) {
      const row = live.get(arrival)
      found[i] = row ? this.rowOf(row) : this.find(arrival)?.row
    }
    return found
  }

  /** Live tasks by arrival: a statement or two, whatever their number. */
  #allLive(arrivals: readonly number[]): ReadonlyMap<number, LiveRow> {
    const live = new Map<number, LiveRow>()
    for (const statement of [this.#manyWaiting, this.#manyNear]) {
      const left = arrivals.filter((arrival) => !live.has(arrival))
      if (left.length === 0) break
      for (const row of statement.all(JSON.stringify(left)) as unknown as LiveRow[])
        live.set(row.arrival, row)
    }
    return live
  }

  find(arrival: number): FoundTask | undefined {
    const live = this.live(arrival)
    if (live) return { row: this.rowOf(live), logPosition: live.log_position }
    const ended = this.#ended.get(arrival) as { position: number } | undefined
    const found = ended && this.entryAt(ended.position)
    // Where the task came in is forgotten at its end; just before its last result is a start that misses none of what is still to come.
    return found && { row: endedRow(readEntry(found.entry)), logPosition: found.position - 1 }
  }

  mustFind(arrival: number): FoundTask {
    const found = this.find(arrival)
    if (!found) throw new Error(`the store remembers an id but not its task (arrival ${arrival})`)
    return found
  }

  live(arrival: number): LiveRow | undefined {
    return (this.#near.get(arrival) ?? this.#waiting.get(arrival)) as LiveRow | undefined
  }

  rowOf(live: LiveRow): TaskRow {
    const { arrival, head, spec, start_us: startTimeUs, attempts } = live
    const started =
      attempts === null || startTimeUs === null
        ? undefined
        : { startId: live.start_id, startTimeUs, attempts }
    return { arrival, id: idOf(live.id), handler: this.#handlers.nameOf(live.handler), started, head, spec }
  }

  /** The newest result of a task, or that of one run. */
  result(id: string, run: number | undefined): FoundEntry | undefined {
    const arrival = (this.#arrivals.get(JSON.stringify([idKey(id)])) as { arrival: number } | undefined)
      ?.arrival
    if (arrival === undefined) return undefined
    const ended = this.#ended.get(arrival) as { position: number } | undefined
    const last = ended && this.entryAt(ended.position)
    if (last && (run === undefined || runOf(last.entry) === run))
      return isOutline(last.entry) ? undefined : last
    const earlier = (run === undefined ? this.#newestRun.get(arrival) : this.#run.get(arrival, run)) as
      | { position: number }
      | undefined
    return earlier && this.entryAt(earlier.position)
  }

  entryAt(position: number): FoundEntry | undefined {
    const gathered = this.#log?.gathered(position)
    if (gathered) return { position, ...gathered }
    const row = this.#bodyWith(position)
    const entry = row?.entryAt(position)
    return row && entry && { position, commitTime: row.commitTime, entry }
  }

  /** Forgets the row that was read last: rows were written anew. */
  forget(): void {
    this.#read = undefined
  }

  /** The row around a position. Tasks that were due together mostly ended together, so the last one read is kept. */
  #bodyWith(position: number): LogBody | undefined {
    const read = this.#read
    if (read && read.first <= position && position <= read.last) return read
    const row = this.#body.get(position) as unknown as LogRow | undefined
    if (!row || row.last < position) return undefined
    this.#read = new LogBody(row)
    return this.#read
  }
}

function endedRow({ arrival, taskId, handler, task }: StoredEntry): TaskRow {
  const from = new BytesIn(task)
  const head = from.bytes(from.u32())
  return { arrival, id: taskId, handler, started: undefined, head, spec: from.rest() }
}
