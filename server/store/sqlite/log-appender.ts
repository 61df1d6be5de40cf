import type { Instant } from '../../task/instant.js'
import type { Connection } from './connection.js'
import type { Counts } from './counts.js'
import { pieces } from './log-body.js'
import { ENTRY } from './log-entry-codec.js'

/** Entries that stand one after another in one buffer. */
interface Chunk {
  /** Position of the first. */
  readonly first: number
  readonly source: Uint8Array
  readonly from: number
  to: number
}

/** Gathers the entries of one commit and writes them as one row: the log is read in such pieces. */
export class LogAppender {
  readonly #insert
  readonly #counts: Counts
  /** Position of the newest entry that is committed. */
  #last: number
  #lastCommit: Instant
  #chunks: Chunk[] = []
  #gathered = 0
  #now: Instant = 0
  /** Of the newest chunk's source. */
  #view: DataView = new DataView(new ArrayBuffer(0))

  constructor(connection: Connection, counts: Counts) {
    this.#insert = connection.prepare('INSERT INTO log VALUES (?, ?, ?, ?, NULL, ?)')
    this.#counts = counts
    const newest = connection
      .prepare(
        'SELECT last_position AS last, commit_time AS time FROM log ORDER BY first_position DESC LIMIT 1',
      )
      .get() as { last: number; time: number } | undefined
    const { position, commitTime } = counts.logFloor
    this.#last = Math.max(newest?.last ?? 0, position)
    this.#lastCommit = Math.max(newest?.time ?? 0, commitTime)
  }

  /** Position of the newest entry, those gathered in this commit included. */
  get latest(): number {
    return this.#last + this.#gathered
  }

  /** The commit time of what is gathered now: never before an earlier one, so that it can be searched. */
  commitTime(now: Instant): Instant {
    this.#now = Math.max(this.#now, this.#lastCommit, now)
    return this.#now
  }

  /** Adds the entries in `source` from `from` (inclusive) to `to` (exclusive). @returns the position of the first. */
  add(source: Uint8Array, from: number, to: number): number {
    const first = this.latest + 1
    let chunk = this.#chunks.at(-1)
    if (chunk?.source === source && chunk.to === from) chunk.to = to
    else {
      chunk = { first, source, from, to }
      this.#chunks.push(chunk)
      this.#view = new DataView(source.buffer, source.byteOffset, source.byteLength)
    }
    for (let start = from; start < to; start += 4 + this.#view.getUint32(start, true))
      this.#view.setUint32(start + ENTRY.offset, this.#gathered++, true)
    return first
  }

  /** An entry of this commit, which is not in the table yet; undefined = it is not one of them. */
  gathered(position: number): { readonly entry: Uint8Array; readonly commitTime: Instant } | undefined {
    if (position <= this.#last || position > this.latest) return undefined
    const chunk = this.#chunks.findLast(({ first }) => first <= position)
    if (!chunk) return undefined
    const entries = chunk.source.subarray(chunk.from, chunk.to)
    let at = chunk.first
    for (const [start, end] of pieces(entries))
      if (at++ === position) return { entry: entries.subarray(start, end), commitTime: this.#now }
    return undefined
  }

  /** Writes what was gathered; part of the transaction under way. */
  flush(): void {
    if (this.#gathered === 0) return
    const parts = this.#chunks.map(({ source, from, to }) => source.subarray(from, to))
    const body = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
    this.#insert.run(this.#last + 1, this.latest, this.#now, this.#gathered, body)
    this.#counts.add('log', this.#gathered)
    this.#counts.add('logBytes', body.length)
  }

  /** After the commit. */
  committed(): void {
    if (this.#gathered > 0) this.#lastCommit = this.#now
    this.#last += this.#gathered
    this.forget()
  }

  /** After a rollback. */
  forget(): void {
    this.#chunks = []
    this.#gathered = 0
    this.#now = 0
  }
}
