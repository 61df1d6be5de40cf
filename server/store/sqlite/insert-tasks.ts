import type { Connection } from './connection.js'
import type { Counts } from './counts.js'
import { digits, writeDigits } from './digits.js'
import type { HandlerNumbers } from './handler-numbers.js'
import { idFromKey } from './id-key.js'
import type { Lookup } from './lookup.js'
import type { InsertColumns, InsertOutcome } from './operations.js'

/** Offset and width of each number in a row of the numbers blob. */
const FIELDS = {
  shard: [0, 3],
  handler: [3, 6],
  state: [9, 1],
  paused: [10, 1],
  priority: [11, 3],
  due: [14, 15],
  notBefore: [29, 15],
  created: [44, 15],
  specFrom: [59, 10],
  specBytes: [69, 8],
  near: [77, 1],
} as const
const ROW_WIDTH = 78
/** Priorities are shifted to be written without a sign. */
const PRIORITY_SHIFT = 100

const field = (name: keyof typeof FIELDS): string =>
  digits('?3', 'e.key', ROW_WIDTH, FIELDS[name][0], FIELDS[name][1])

// ?1 keys as JSON · ?2 first arrival · ?3 numbers · ?4 specs · ?5 log position · ?6 indexes to leave out, JSON · ?7 progress as JSON list or null
const insertInto = (table: 'near' | 'waiting', near: 0 | 1): string => `
  INSERT INTO ${table} (arrival, namespace, id, shard, handler, state, paused, priority, due, not_before, created, log_position, start_id, progress, spec)
  SELECT ?2 + e.key, '', ${idFromKey('e.value')}, ${field('shard')}, ${field('handler')}, ${field('state')}, ${field('paused')},
    ${field('priority')} - ${PRIORITY_SHIFT}, ${field('due')}, ${field('notBefore')}, ${field('created')}, ?5, 0,
    CASE WHEN ?7 IS NULL THEN NULL ELSE json_extract(?7, '$[' || e.key || ']') END,
    substr(?4, 1 + ${field('specFrom')}, ${field('specBytes')})
  FROM json_each(?1) e
  WHERE ${field('near')} = ${near} AND (?6 IS NULL OR e.key NOT IN (SELECT value FROM json_each(?6)))`

/** Stores batches of new tasks; ids that are remembered are left alone. */
export class InsertTasks {
  readonly #ids
  readonly #arrivals
  readonly #near
  readonly #waiting
  readonly #handlers: HandlerNumbers
  readonly #lookup: Lookup
  readonly #counts: Counts

  constructor(connection: Connection, handlers: HandlerNumbers, lookup: Lookup, counts: Counts) {
    this.#ids = connection.prepare(
      `INSERT OR IGNORE INTO ids SELECT '', ${idFromKey('e.value')}, ?2 + e.key FROM json_each(?1) e`,
    )
    this.#arrivals = connection.prepare(
      `SELECT e.key AS i, ids.arrival FROM json_each(?1) e CROSS JOIN ids ON ids.namespace = '' AND ids.id = ${idFromKey('e.value')}`,
    )
    this.#near = connection.prepare(insertInto('near', 1))
    this.#waiting = connection.prepare(insertInto('waiting', 0))
    this.#handlers = handlers
    this.#lookup = lookup
    this.#counts = counts
  }

  run(columns: InsertColumns, firstArrival: number, logPosition: number): InsertOutcome {
    const count = columns.keys.length
    const keys = JSON.stringify(columns.keys)
    const added = this.#ids.run(keys, firstArrival).changes
    // The common case pays nothing for conflicts: they show as fewer changes, and only then is each id looked up.
    const known = added === count ? [] : this.#known(keys, firstArrival)
    const leaveOut = known.length === 0 ? null : JSON.stringify(known.map(({ index }) => index))
    const numbers = this.#numbers(columns)
    const progress = columns.progress === null ? null : JSON.stringify(columns.progress)
    let stored = 0
    for (const [statement, near] of [
      [this.#near, 1],
      [this.#waiting, 0],
    ] as const) {
      if (!columns.nears.includes(near)) continue
      stored += statement.run(
        keys,
        firstArrival,
        numbers,
        columns.specs,
        logPosition,
        leaveOut,
        progress,
      ).changes
    }
    if (stored !== count - known.length)
      throw new Error(`stored ${stored} of ${count - known.length} new tasks`)
    const leftOut = new Set(known.map(({ index }) => index))
    columns.states.forEach((state, index) => {
      if (!leftOut.has(index)) this.#counts.add(state, 1)
    })
    // Read after all are stored: a second request with the id of a first one in the same batch finds that one.
    return {
      firstArrival,
      logPosition,
      known: known.map(({ index, arrival }) => {
        const { row, logPosition: since } = this.#lookup.mustFind(arrival)
        return { index, row, logPosition: since }
      }),
    }
  }

  #known(keys: string, firstArrival: number): { index: number; arrival: number }[] {
    return (this.#arrivals.all(keys) as { i: number; arrival: number }[])
      .filter(({ i, arrival }) => arrival !== firstArrival + i)
      .map(({ i, arrival }) => ({ index: i, arrival }))
  }

  #numbers(columns: InsertColumns): Buffer {
    const count = columns.keys.length
    const numbers = Buffer.allocUnsafe(count * ROW_WIDTH)
    let specFrom = 0
    for (let i = 0; i < count; i++) {
      const row = i * ROW_WIDTH
      const write = (name: keyof typeof FIELDS, value: number): void =>
        writeDigits(numbers, row + FIELDS[name][0], FIELDS[name][1], value)
      const specBytes = columns.specBytes[i] as number
      write('shard', columns.shards[i] as number)
      write('handler', this.#handlers.numberOf(columns.handlers[i] as string))
      write('state', columns.states[i] as number)
      write('paused', columns.paused[i] as number)
      write('priority', (columns.priorities[i] as number) + PRIORITY_SHIFT)
      write('due', columns.dues[i] as number)
      write('notBefore', columns.notBefores[i] as number)
      write('created', columns.created[i] as number)
      write('specFrom', specFrom)
      write('specBytes', specBytes)
      write('near', columns.nears[i] as number)
      specFrom += specBytes
    }
    return numbers
  }
}
