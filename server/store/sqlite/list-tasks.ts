import type { Instant } from '../../task/instant.js'
import { isLive, type TaskState } from '../../task/task.js'
import type { TaskQuery } from '../task-store.js'
import type { Connection } from './connection.js'
import { HandlerNumbers } from './handler-numbers.js'
import { idOf, storedId } from './id-key.js'
import { Lookup } from './lookup.js'
import { STATE_NUMBER } from './numbers.js'
import { readSpec } from './spec-codec.js'
import type { TaskRow } from './task-rows.js'

/** Rows that one page looks at, at most; a page may be short because of it. */
const MAX_LOOKED_AT = 10_000
/** More (state, handler) pairs than this are cheaper to find by walking all ended tasks. */
const MAX_PAIRS = 200
const CHUNK = 500

type StoredId = string | Uint8Array
interface Key {
  readonly due: Instant
  readonly id: StoredId
}
interface Hit extends Key {
  readonly arrival: number
}

/** Text before bytes, each by its bytes: SQLite's own order. */
function compare(a: Key, b: Key): number {
  if (a.due !== b.due) return a.due - b.due
  if (typeof a.id === 'string' && typeof b.id === 'string') return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
  if (typeof a.id === 'string') return -1
  if (typeof b.id === 'string') return 1
  return Buffer.compare(a.id, b.id)
}

/** An ordered run of hits, read chunk by chunk. */
class Source {
  readonly #next: (after: Key) => Hit[]
  #chunk: Hit[] = []
  #at = 0
  #after: Key
  #done = false

  constructor(after: Key, next: (after: Key) => Hit[]) {
    this.#after = after
    this.#next = next
  }

  peek(): Hit | undefined {
    if (this.#at >= this.#chunk.length && !this.#done) {
      this.#chunk = this.#next(this.#after)
      this.#at = 0
      this.#done = this.#chunk.length < CHUNK
      this.#after = this.#chunk.at(-1) ?? this.#after
    }
    return this.#chunk[this.#at]
  }

  take(): void {
    this.#at += 1
  }
}

/** Pages of tasks in the order (due time, id), over live and ended ones alike. */
export class ListTasks {
  readonly #connection: Connection
  readonly #statements = new Map<string, ReturnType<Connection['prepare']>>()
  /** Before every key: blobs sort after text, and '' before all text. */
  readonly #start = (due: Instant): Key => ({ due, id: '' })

  constructor(connection: Connection) {
    this.#connection = connection
  }

  run(query: TaskQuery): { rows: TaskRow[]; next?: { dueTime: Instant; id: string } } {
    const handlers = new HandlerNumbers(this.#connection)
    const lookup = new Lookup(this.#connection, handlers)
    const sources = this.#sources(query, handlers)
    const rows: TaskRow[] = []
    let last: Hit | undefined
    for (let looked = 0; looked < MAX_LOOKED_AT; looked++) {
      const source = earliest(sources)
      if (!source) return { rows }
      if (rows.length === query.limit) break
      last = source.peek() as Hit
      source.take()
      const found = lookup.find(last.arrival)
      if (found && wanted(query, found.row)) rows.push(found.row)
    }
    return last ? { rows, next: { dueTime: last.due, id: idOf(last.id) } } : { rows }
  }

  #sources(query: TaskQuery, handlers: HandlerNumbers): Source[] {
    const states = query.states.length > 0 ? query.states : (Object.keys(STATE_NUMBER) as TaskState[])
    const live = states.filter(isLive)
    const ended = states.filter((state) => !isLive(state))
    const sources: Source[] = []
    const add = (table: string, where: string, values: readonly (number | string)[]): void => {
      const statement = this.#statement(`
        SELECT due, id, arrival FROM ${table}
        WHERE ${where} AND due < ? AND (due, id) > (?, ?) ORDER BY due, id LIMIT ${CHUNK}`)
      const before = query.dueBefore ?? Number.MAX_SAFE_INTEGER
      const start = query.after
        ? { due: query.after.dueTime, id: storedId(query.after.id) }
        : this.#start(query.dueFrom ?? 0)
      sources.push(
        new Source(start, (after) => statement.all(...values, before, after.due, after.id) as Hit[]),
      )
    }
    const numbers = query.handlers.map((name) => handlers.find(name)).filter((number) => number !== undefined)
    if (query.handlers.length > 0 && numbers.length === 0) return []
    const ofHandlers = numbers.length > 0 ? `handler IN (${numbers.join(',')})` : 'TRUE'
    const inStates = (some: readonly TaskState[]): string =>
      `state IN (${some.map((state) => STATE_NUMBER[state]).join(',')})`
    if (live.length > 0)
      for (const table of ['near', 'waiting']) add(table, `${inStates(live)} AND ${ofHandlers}`, [])
    if (ended.length > 0) {
      const pairs = ended.flatMap((state) =>
        (numbers.length > 0 ? numbers : handlers.all()).map((handler) => [STATE_NUMBER[state], handler]),
      )
      // The partial index is used only when its own condition stands in the query.
      if (!ended.includes('succeeded') && pairs.length <= MAX_PAIRS)
        for (const pair of pairs) add('ended', 'state <> 3 AND state = ? AND handler = ?', pair)
      else add('ended', `${inStates(ended)} AND ${ofHandlers}`, [])
    }
    return sources
  }

  #statement(sql: string): ReturnType<Connection['prepare']> {
    let statement = this.#statements.get(sql)
    if (!statement) {
      if (this.#statements.size > 100) this.#statements.clear()
      statement = this.#connection.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }
}

function earliest(sources: readonly Source[]): Source | undefined {
  let best: Source | undefined
  for (const source of sources) {
    const hit = source.peek()
    if (hit && (!best || compare(hit, best.peek() as Hit) < 0)) best = source
  }
  return best
}

function wanted(query: TaskQuery, row: TaskRow): boolean {
  const labels = Object.entries(query.labels)
  if (labels.length === 0) return true
  const { labels: own } = readSpec(row.spec, { ...row, priority: 0 })
  return labels.every(([key, value]) => Object.hasOwn(own, key) && own[key] === value)
}
