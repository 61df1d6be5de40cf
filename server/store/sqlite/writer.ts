import type { Connection } from './connection.js'
import { ConsumerRows } from './consumers.js'
import { Counts } from './counts.js'
import { HandlerNumbers } from './handler-numbers.js'
import { InsertTasks } from './insert-tasks.js'
import { LogAppender } from './log-appender.js'
import { Lookup } from './lookup.js'
import { Meta } from './meta.js'
import type { WriteOperation } from './operations.js'
import { Purge } from './purge.js'
import { Questions } from './questions.js'
import { StartNotes, withoutEnded } from './start-notes.js'
import type { StoreRoom } from './store-room.js'
import { isTrouble } from './store-trouble.js'
import { UpdateTasks } from './update-tasks.js'
import { Window } from './window.js'

/** What became of one operation of a group. */
export type Answer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error }

/** Operations that change nothing, so that a group of them needs no commit. */
const QUESTIONS: ReadonlySet<WriteOperation['kind']> = new Set([
  'get',
  'findResult',
  'nextWaiting',
  'stats',
  'consumers',
])

/** How long a start waits for a store that another program has locked. */
const START_LOCK_WAIT_MS = 10_000

/** Watches commits, for the case that the writer dies at one. */
export interface CommitWatch {
  /** The answers to a group that hold if this commit succeeds; it is about to be made. */
  prepared(commit: number, group: readonly WriteOperation[], answers: readonly Answer[]): void
  /** A commit that was prepared has not been made. */
  undone(commit: number): void
}

const NOBODY: CommitWatch = { prepared() {}, undone() {} }

/** Does what the store is asked to do, a group of operations in one transaction: the price of a commit is shared by all that waited for it. */
export class StoreWriter {
  readonly #connection: Connection
  readonly #room: StoreRoom
  readonly #meta: Meta
  readonly #handlers: HandlerNumbers
  readonly #counts: Counts
  readonly #log: LogAppender
  readonly #lookup: Lookup
  readonly #insert: InsertTasks
  readonly #starts: StartNotes
  readonly #update: UpdateTasks
  readonly #window: Window
  readonly #questions: Questions
  readonly #consumers: ConsumerRows
  readonly #purge: Purge
  readonly #begin
  readonly #commit

  constructor(connection: Connection, room: StoreRoom) {
    this.#connection = connection
    this.#room = room
    this.#meta = new Meta(connection)
    this.#handlers = new HandlerNumbers(connection)
    this.#counts = new Counts(connection)
    this.#log = new LogAppender(connection, this.#counts)
    this.#lookup = new Lookup(connection, this.#handlers, this.#log)
    const parts = { lookup: this.#lookup, handlers: this.#handlers, counts: this.#counts, log: this.#log }
    this.#insert = new InsertTasks(connection, this.#handlers, this.#lookup, this.#counts)
    this.#starts = new StartNotes(connection, this.#counts)
    this.#update = new UpdateTasks(connection, parts)
    this.#window = new Window(connection)
    this.#questions = new Questions(connection, { ...parts, meta: this.#meta, window: this.#window, room })
    this.#consumers = new ConsumerRows(connection)
    this.#purge = new Purge(connection, parts)
    this.#begin = connection.prepare('BEGIN IMMEDIATE')
    this.#commit = connection.prepare('COMMIT')
  }

  /** Number of the newest commit on disk. */
  get commit(): number {
    return this.#counts.commit
  }

  /**
   * One answer for each operation, in order, after the commit. What the store as a whole cannot do fails for all of the group; when only one of them is at fault, each
   * is tried in a transaction of its own.
   */
  run(group: readonly WriteOperation[], watch = NOBODY): Answer[] {
    try {
      const answers = this.#run(group, watch)
      if (group.some(({ kind }) => kind === 'tidy')) this.#connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      return answers
    } catch (error) {
      if (group.length > 1 && !isTrouble(error))
        return group.flatMap((operation) => this.run([operation], watch))
      return group.map(() => ({ ok: false, error: error as Error }))
    }
  }

  /** At the start nobody waits for an answer yet, and a server that gave up at once would be down for longer than a short lock lasts. */
  #beginPatiently(): void {
    const { timeout } = this.#connection.prepare('PRAGMA busy_timeout').get() as { timeout: number }
    this.#connection.exec(`PRAGMA busy_timeout = ${START_LOCK_WAIT_MS}`)
    try {
      this.#begin.run()
    } finally {
      this.#connection.exec(`PRAGMA busy_timeout = ${timeout}`)
    }
  }

  #run(group: readonly WriteOperation[], watch: CommitWatch): Answer[] {
    if (group.every(({ kind }) => QUESTIONS.has(kind))) return this.#do(group)
    this.#room.mustBeThere()
    const last = this.#counts.commit
    if (group.some(({ kind }) => kind === 'recover')) this.#beginPatiently()
    else this.#begin.run()
    try {
      const answers = this.#do(withoutEnded(group))
      this.#log.flush()
      const commit = this.#counts.begin()
      this.#counts.flush()
      watch.prepared(commit, group, answers)
      this.#commit.run()
      this.#log.committed()
      return answers
    } catch (error) {
      const { commit } = this.#counts
      this.#rollBack()
      if (commit !== last) watch.undone(commit)
      throw error
    }
  }

  #rollBack(): void {
    if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK')
    this.#log.forget()
    this.#update.forget()
    this.#lookup.forget()
    this.#counts.reload()
    this.#handlers.reload()
  }

  #do(group: readonly WriteOperation[]): Answer[] {
    const isFull = group.some(({ kind }) => kind === 'insert') ? this.#room.fullness() : undefined
    return group.map((operation): Answer => {
      if (isFull && operation.kind === 'insert') return { ok: false, error: isFull }
      return { ok: true, value: this.#one(operation) }
    })
  }

  #one(operation: WriteOperation): unknown {
    switch (operation.kind) {
      case 'insert': {
        const first = this.#counts.newestArrival + 1
        this.#counts.newestArrival += operation.insert.count
        this.#counts.lastChange = operation.insert.now
        return this.#insert.run(operation.insert, first, this.#log.latest)
      }
      case 'start':
        return this.#starts.run(operation.starts)
      case 'update':
        this.#counts.lastChange = operation.update.now
        return this.#update.run(operation.update)
      case 'takeWindow':
        return this.#questions.pack(this.#window.take(operation).map((row) => this.#lookup.rowOf(row)))
      case 'giveBack':
        return this.#window.giveBack(operation.arrivals)
      case 'reserveStartIds':
        return this.#meta.reserveStartIds(operation.count)
      case 'recover':
        return this.#questions.recover()
      case 'consumers':
      case 'keepConsumer':
      case 'moveConsumer':
      case 'forgetConsumer':
        return this.#consumers.run(operation)
      case 'purge':
        return this.#purge.step(operation.rules)
      case 'markCleanStop':
        this.#meta.cleanStop = true
        return undefined
      case 'tidy':
        return undefined
      default:
        return this.#questions.answer(operation)
    }
  }
}
