import type { Connection } from './connection.js'
import type { LogAppender } from './log-appender.js'
import { isOutline, runOf } from './log-entry-codec.js'
import type { Lookup } from './lookup.js'
import type { RunResults } from './run-results.js'
import { waitingValues } from './table-columns.js'
import type { Place } from './task-places.js'

/** The columns of a live task that change with its state. */
export interface LiveValues {
  readonly arrival: number
  readonly handler: number
  readonly due: number
  readonly state: number
  readonly startId: number
}

const CHANGED =
  'handler = ?, due = ?, state = ?, start_id = ?, attempts = NULL, start_us = NULL, head = ?, spec = ?'

/** Writes the new state of a task that lives on. */
export class LiveTasks {
  readonly #near
  readonly #waiting
  readonly #end
  readonly #reopen
  readonly #forgetEnd
  readonly #runs: RunResults
  readonly #lookup: Lookup
  readonly #log: LogAppender

  constructor(
    connection: Connection,
    runs: RunResults,
    parts: { readonly lookup: Lookup; readonly log: LogAppender },
  ) {
    this.#near = connection.prepare(`UPDATE near SET ${CHANGED} WHERE arrival = ?`)
    this.#waiting = connection.prepare(
      `UPDATE waiting SET ${CHANGED}, shard = ?, priority = ?, not_before = ?, paused = ? WHERE arrival = ?`,
    )
    this.#end = connection.prepare('SELECT position FROM ended WHERE arrival = ?')
    this.#reopen = connection.prepare(`
      INSERT INTO waiting (handler, due, state, start_id, head, spec, shard, priority, not_before, paused, log_position, arrival, namespace, id)
      SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, arrival, '', id FROM ended WHERE arrival = ?`)
    this.#forgetEnd = connection.prepare('DELETE FROM ended WHERE arrival = ?')
    this.#runs = runs
    this.#lookup = parts.lookup
    this.#log = parts.log
  }

  /** @param packed - Head, of `headBytes`, and spec. */
  store(place: Place, values: LiveValues, packed: Uint8Array, headBytes: number): void {
    const { arrival, handler, due, state, startId } = values
    const head = packed.subarray(0, headBytes)
    const changed = [handler, due, state, startId, head, packed.subarray(headBytes)] as const
    if (place.table === 'near') {
      this.#near.run(...changed, arrival)
      return
    }
    const { shard, priority, notBefore, paused } = waitingValues(head)
    if (place.table === 'waiting') {
      this.#waiting.run(...changed, shard, priority, notBefore, paused, arrival)
      return
    }
    this.rememberLastRun(arrival)
    this.#reopen.run(...changed, shard, priority, notBefore, paused, this.#log.latest, arrival)
    this.#forgetEnd.run(arrival)
  }

  /** The result that ended the task is from now on that of an earlier run. */
  rememberLastRun(arrival: number): void {
    const { position } = this.#end.get(arrival) as { position: number }
    const last = this.#lookup.entryAt(position)
    if (last && !isOutline(last.entry)) this.#runs.rememberOne(arrival, runOf(last.entry), position)
  }
}
