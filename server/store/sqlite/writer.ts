import { randomUUID } from 'node:crypto'
import type { Connection } from './connection.js'
import { ConsumerRows } from './consumers.js'
import { Counts } from './counts.js'
import { HandlerNumbers } from './handler-numbers.js'
import { InsertTasks } from './insert-tasks.js'
import { LogAppender } from './log-appender.js'
import { type FoundEntry, type LiveRow, Lookup } from './lookup.js'
import type { WriteOperation } from './operations.js'
import { UpdateTasks } from './update-tasks.js'
import { Window } from './window.js'

/** What became of one operation of a group. */
export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error }

/** Operations that change nothing, so that a group of them needs no commit. */
const READS: ReadonlySet<WriteOperation['kind']> = new Set([
  'get',
  'findResult',
  'nextWaiting',
  'stats',
  'recover',
  'consumers',
])

/** Does what the store is asked to do, a group of operations in one transaction: the price of a commit is shared by all that waited for it. */
export class StoreWriter {
  readonly #connection: Connection
  readonly #handlers: HandlerNumbers
  readonly #counts: Counts
  readonly #log: LogAppender
  readonly #lookup: Lookup
  readonly #insert: InsertTasks
  readonly #update: UpdateTasks
  readonly #window: Window
  readonly #consumers: ConsumerRows
  readonly #setMeta
  readonly #getMeta
  readonly #oldest
  #nextArrival: number

  constructor(connection: Connection) {
    this.#connection = connection
    this.#handlers = new HandlerNumbers(connection)
    this.#counts = new Counts(connection)
    this.#log = new LogAppender(connection, this.#counts)
    this.#lookup = new Lookup(connection, this.#handlers, this.#log)
    this.#insert = new InsertTasks(connection, this.#handlers, this.#lookup, this.#counts)
    this.#update = new UpdateTasks(connection, {
      lookup: this.#lookup,
      handlers: this.#handlers,
      counts: this.#counts,
      log: this.#log,
    })
    this.#window = new Window(connection)
    this.#consumers = new ConsumerRows(connection)
    this.#setMeta = connection.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
    this.#getMeta = connection.prepare('SELECT value FROM meta WHERE key = ?')
    this.#oldest = connection.prepare('SELECT min(first_position) AS first FROM log')
    this.#nextArrival = this.#newestArrival() + 1
  }

  /** One answer for each operation, in order, after the commit. When the group fails, each operation is tried in a transaction of its own. */
  run(group: readonly WriteOperation[]): Answer[] {
    try {
      return this.#transaction(group).map((value) => ({ ok: true, value }))
    } catch (error) {
      if (group.length > 1) return group.flatMap((operation) => this.run([operation]))
      return [{ ok: false, error: error as Error }]
    }
  }

  #transaction(group: readonly WriteOperation[]): unknown[] {
    if (group.every(({ kind }) => READS.has(kind))) return group.map((operation) => this.#do(operation))
    const firstArrival = this.#nextArrival
    this.#connection.exec('BEGIN IMMEDIATE')
    try {
      const answers = group.map((operation) => this.#do(operation))
      this.#log.flush()
      this.#counts.flush()
      this.#connection.exec('COMMIT')
      this.#log.committed()
      return answers
    } catch (error) {
      this.#nextArrival = firstArrival
      this.#log.forget()
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK')
      this.#counts.reload()
      this.#handlers.reload(this.#connection)
      throw error
    }
  }

  #do(operation: WriteOperation): unknown {
    switch (operation.kind) {
      case 'insert': {
        const first = this.#nextArrival
        this.#nextArrival += operation.columns.keys.length
        return this.#insert.run(operation.columns, first, this.#log.latest)
      }
      case 'start':
        return this.#update.start(operation.starts)
      case 'update':
        return this.#update.run(operation.update)
      case 'takeWindow':
        return this.#window.take(operation).map((row) => this.#lookup.rowOf(row))
      case 'giveBack':
        return this.#window.giveBack(operation.arrivals)
      case 'nextWaiting':
        return this.#window.next()
      case 'get':
        return this.#lookup.byIds(operation.ids)
      case 'findResult':
        return this.#result(this.#lookup.result(operation.id, operation.run))
      case 'reserveStartIds':
        return this.#reserve(operation.count)
      case 'stats':
        return {
          states: this.#counts.byState(),
          logEntries: this.#counts.get('log'),
          earliest: this.#earliest(),
          latest: this.#log.latest,
        }
      case 'recover':
        return this.#recover()
      case 'consumers':
      case 'keepConsumer':
      case 'moveConsumer':
      case 'forgetConsumer':
        return this.#consumers.run(operation)
      case 'markCleanStop':
        return void this.#setMeta.run('clean_stop', 1)
    }
  }

  #result(found: FoundEntry | undefined): unknown {
    if (!found) return undefined
    const { task: _task, offset: _offset, arrival: _arrival, ...entry } = found.entry
    return {
      ...entry,
      bytes: new Uint8Array(entry.bytes),
      position: found.position,
      commitTime: found.commitTime,
    }
  }

  #reserve(count: number): number {
    const first = Number(this.#meta('next_start_id') ?? 1)
    this.#setMeta.run('next_start_id', first + count)
    return first
  }

  #recover(): unknown {
    const cleanStop = this.#meta('clean_stop') !== 0
    let logId = this.#meta('log_id')
    this.#connection.exec('BEGIN IMMEDIATE')
    if (logId === undefined) {
      logId = randomUUID().replaceAll('-', '').slice(0, 12)
      this.#setMeta.run('log_id', logId)
    }
    this.#setMeta.run('clean_stop', 0)
    this.#connection.exec('COMMIT')
    const rows = this.#connection.prepare('SELECT * FROM near ORDER BY arrival').all() as LiveRow[]
    return { cleanStop, logId, rows: rows.map((row) => this.#lookup.rowOf(row)) }
  }

  #earliest(): number {
    const { first } = this.#oldest.get() as { first: number | null }
    return first === null ? this.#log.latest : first - 1
  }

  #newestArrival(): number {
    const newest = (table: string): number =>
      (
        this.#connection.prepare(`SELECT max(arrival) AS newest FROM ${table}`).get() as {
          newest: number | null
        }
      ).newest ?? 0
    return Math.max(
      newest('near'),
      newest('waiting'),
      newest('ended'),
      Number(this.#meta('arrival_floor') ?? 0),
    )
  }

  #meta(key: string): string | number | undefined {
    return (this.#getMeta.get(key) as { value: string | number } | undefined)?.value
  }
}
