import type { Instant } from '../../task/instant.js'
import type { Connection } from './connection.js'
import type { Counts } from './counts.js'
import { setOffset } from './log-body.js'

/** Gathers the entries of one commit and writes them as one row: the log is read in such pieces. */
export class LogAppender {
  readonly #insert
  readonly #counts: Counts
  #last: number
  #lastCommit: Instant
  #pieces: Buffer[] = []
  #now: Instant = 0

  constructor(connection: Connection, counts: Counts) {
    this.#insert = connection.prepare('INSERT INTO log VALUES (?, ?, ?, ?, ?)')
    this.#counts = counts
    const newest = connection
      .prepare(
        'SELECT last_position AS last, commit_time AS time FROM log ORDER BY first_position DESC LIMIT 1',
      )
      .get() as { last: number; time: number } | undefined
    const floor = connection.prepare("SELECT value FROM meta WHERE key = 'log_floor'").get() as
      | { value: number }
      | undefined
    this.#last = Math.max(newest?.last ?? 0, floor?.value ?? 0)
    this.#lastCommit = newest?.time ?? 0
  }

  /** Position of the newest entry, those gathered in this commit included. */
  get latest(): number {
    return this.#last + this.#pieces.length
  }

  /** The commit time of what is gathered now: never before an earlier one, so that it can be searched. */
  commitTime(now: Instant): Instant {
    this.#now = Math.max(this.#now, this.#lastCommit, now)
    return this.#now
  }

  /** Adds an entry; returns its position. */
  add(entry: Buffer): number {
    setOffset(entry, this.#pieces.length)
    this.#pieces.push(entry)
    return this.latest
  }

  /** An entry of this commit, which is not in the table yet; undefined = it is not one of them. */
  gathered(position: number): { readonly entry: Buffer; readonly commitTime: Instant } | undefined {
    const entry = this.#pieces[position - this.#last - 1]
    return entry && { entry, commitTime: this.#now }
  }

  /** Writes what was gathered; part of the transaction under way. */
  flush(): void {
    const count = this.#pieces.length
    if (count === 0) return
    const first = this.#last + 1
    this.#insert.run(
      first,
      this.#last + count,
      this.#now,
      count,
      count === 1 ? (this.#pieces[0] as Buffer) : Buffer.concat(this.#pieces),
    )
    this.#counts.add('log', count)
  }

  /** After the commit. */
  committed(): void {
    if (this.#pieces.length > 0) this.#lastCommit = this.#now
    this.#last += this.#pieces.length
    this.#pieces = []
    this.#now = 0
  }

  /** After a rollback. */
  forget(): void {
    this.#pieces = []
    this.#now = 0
  }
}
