import { BytesOut } from './bytes-out.js'
import type { Connection } from './connection.js'
import type { Counts } from './counts.js'
import { type End, EndTasks } from './end-tasks.js'
import type { HandlerNumbers } from './handler-numbers.js'
import { LiveTasks } from './live-tasks.js'
import type { LogAppender } from './log-appender.js'
import type { Lookup } from './lookup.js'
import { type PackedUpdate, UPDATE, type UpdateOutcome } from './operations.js'
import { RunResults } from './run-results.js'
import { writeRow } from './task-rows.js'
import { type Place, TaskPlaces } from './task-places.js'

export interface UpdateParts {
  readonly lookup: Lookup
  readonly handlers: HandlerNumbers
  readonly counts: Counts
  readonly log: LogAppender
}

/** Stores new states. What ends is taken apart by set statements; what lives on is written row by row. */
export class UpdateTasks {
  readonly #parts: UpdateParts
  readonly #places: TaskPlaces
  readonly #ends: EndTasks
  readonly #live: LiveTasks
  readonly #runs: RunResults
  readonly #rows = new BytesOut()

  constructor(connection: Connection, parts: UpdateParts) {
    this.#parts = parts
    this.#places = new TaskPlaces(connection)
    this.#ends = new EndTasks(connection)
    this.#runs = new RunResults(connection)
    this.#live = new LiveTasks(connection, this.#runs, parts)
  }

  run(update: PackedUpdate): UpdateOutcome {
    const { log, handlers } = this.#parts
    const { count, numbers } = update
    const commitTime = log.commitTime(update.now)
    const firstPosition = log.latest + 1
    const names = update.handlers.map((name) => handlers.numberOf(name))
    const arrivals = Array.from(
      { length: count },
      (_, i) => numbers[i * UPDATE.width + UPDATE.arrival] as number,
    )
    // Each task once, as nearly always: then all can be looked up at once and all that end be stored at once.
    const together = new Set(arrivals).size === count
    const places = together ? this.#places.ofAll(arrivals) : []
    const refused: number[] = []
    let entriesAt = 0
    let liveAt = 0
    for (let i = 0, at = 0; i < count; i++, at += UPDATE.width) {
      const value = (field: number): number => numbers[at + field] as number
      const arrival = value(UPDATE.arrival)
      const from = entriesAt
      const packed = liveAt
      entriesAt += value(UPDATE.entryBytes)
      liveAt += value(UPDATE.headBytes) + value(UPDATE.specBytes)
      if (!together) this.#ends.flush()
      const place = together ? places[i] : this.#places.of(arrival)
      if (!place || isLate(place, value(UPDATE.startId), value(UPDATE.reopen))) {
        refused.push(i)
        continue
      }
      const first = log.add(update.entries, from, entriesAt)
      this.#move(place.state, value(UPDATE.state))
      const [handler, due, state] = [
        names[value(UPDATE.handler)] as number,
        value(UPDATE.due),
        value(UPDATE.state),
      ]
      const entries = update.entries.subarray(from, entriesAt)
      if (value(UPDATE.ended) === 1) {
        this.#end({ arrival, position: log.latest, due, state, handler }, place)
        if (value(UPDATE.entries) > 1) this.#runs.remember(arrival, entries, first, 'but the last')
      } else {
        const values = { arrival, handler, due, state, startId: value(UPDATE.startId) }
        this.#live.store(place, values, update.live.subarray(packed, liveAt), value(UPDATE.headBytes))
        if (entries.length > 0) this.#runs.remember(arrival, entries, first, 'all')
      }
    }
    this.#ends.flush()
    return {
      firstPosition,
      commitTime,
      ...(refused.length > 0 && { refused: this.#refused(refused, arrivals) }),
    }
  }

  /** After a rollback. */
  forget(): void {
    this.#ends.forget()
  }

  #end(end: End, { table }: Place): void {
    if (table !== 'ended') {
      this.#ends.add(end, table)
      return
    }
    this.#live.rememberLastRun(end.arrival)
    this.#ends.again(end)
  }

  #refused(indexes: readonly number[], arrivals: readonly number[]): NonNullable<UpdateOutcome['refused']> {
    const known = indexes.map((index) => {
      const found = this.#parts.lookup.find(arrivals[index] as number)
      if (found) writeRow(this.#rows, found.row)
      return found !== undefined
    })
    return { indexes, known, rows: this.#rows.take() }
  }

  #move(from: number, to: number): void {
    if (from === to) return
    this.#parts.counts.add(from, -1)
    this.#parts.counts.add(to, 1)
  }
}

/** Whether something newer is stored already: a later start, or the task's end. */
const isLate = (place: Place, startId: number, reopen: number): boolean =>
  place.startId > startId || (place.table === 'ended' && reopen === 0)
