import type { AttemptStart } from '../task-store.js'
import type { Connection } from './connection.js'
import type { Counts } from './counts.js'
import { digits, writeDigits } from './digits.js'
import type { HandlerNumbers } from './handler-numbers.js'
import { idFromKey, idKey } from './id-key.js'
import type { LogAppender } from './log-appender.js'
import type { Lookup } from './lookup.js'
import { STATE_NUMBER, stateOf } from './numbers.js'
import type { PackedTransition, PackedUpdate, UpdateOutcome } from './operations.js'
import type { TaskRow } from './task-codec.js'
import { isLive } from '../../task/task.js'

/** Offset and width of each number in a row of the numbers blob of ended tasks. */
const FIELDS = {
  arrival: [0, 15],
  position: [15, 15],
  due: [30, 15],
  state: [45, 1],
  handler: [46, 6],
} as const
const ROW_WIDTH = 52
const field = (name: keyof typeof FIELDS): string =>
  digits('?2', 'e.key', ROW_WIDTH, FIELDS[name][0], FIELDS[name][1])

/** Where a task is stored now, as far as an update needs to know. */
interface Place {
  readonly table: 'near' | 'waiting' | 'ended'
  readonly state: number
  readonly startId: number
}

const LIVE_COLUMNS =
  'shard = ?, handler = ?, state = ?, paused = ?, priority = ?, due = ?, not_before = ?, start_id = ?, progress = ?'

/** Stores new states and starts. What ends is taken apart by set statements; what lives on is written row by row. */
export class UpdateTasks {
  readonly #lookup: Lookup
  readonly #handlers: HandlerNumbers
  readonly #counts: Counts
  readonly #log: LogAppender
  readonly #places
  readonly #endNear
  readonly #endWaiting
  readonly #ended
  readonly #endedState
  readonly #rememberRun
  readonly #start
  readonly #update
  readonly #updateSpec
  readonly #reopen
  readonly #forgetEnd

  constructor(
    connection: Connection,
    parts: { lookup: Lookup; handlers: HandlerNumbers; counts: Counts; log: LogAppender },
  ) {
    this.#lookup = parts.lookup
    this.#handlers = parts.handlers
    this.#counts = parts.counts
    this.#log = parts.log
    this.#places = connection.prepare(
      'SELECT near.arrival, near.state, near.start_id FROM json_each(?) e CROSS JOIN near ON near.arrival = e.value',
    )
    this.#places.setReturnArrays(true)
    this.#endNear = connection.prepare('DELETE FROM near WHERE arrival IN (SELECT value FROM json_each(?))')
    this.#endWaiting = connection.prepare(
      'DELETE FROM waiting WHERE arrival IN (SELECT value FROM json_each(?))',
    )
    this.#ended = connection.prepare(
      `INSERT INTO ended (arrival, id, position, due, state, handler)
       SELECT ${field('arrival')}, ${idFromKey('e.value')}, ${field('position')}, ${field('due')}, ${field('state')}, ${field('handler')} FROM json_each(?1) e`,
    )
    this.#endedState = connection.prepare('SELECT state, position FROM ended WHERE arrival = ?')
    this.#rememberRun = connection.prepare('INSERT OR REPLACE INTO runs VALUES (?, ?, ?)')
    this.#start = connection.prepare(
      "UPDATE near SET state = ?, start_id = ?, progress = json_patch(coalesce(progress, '{}'), ?) WHERE arrival = ? AND start_id < ?",
    )
    const both = (sql: (table: string) => string) => ({
      near: connection.prepare(sql('near')),
      waiting: connection.prepare(sql('waiting')),
    })
    this.#update = both((table) => `UPDATE ${table} SET ${LIVE_COLUMNS} WHERE arrival = ?`)
    this.#updateSpec = both((table) => `UPDATE ${table} SET spec = ? WHERE arrival = ?`)
    this.#reopen = connection.prepare(
      `INSERT INTO waiting (arrival, namespace, id, shard, handler, state, paused, priority, due, not_before, created, log_position, start_id, progress, spec)
       SELECT ?1, '', ${idFromKey('?2')}, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14`,
    )
    this.#forgetEnd = connection.prepare('DELETE FROM ended WHERE arrival = ?')
  }

  /** A start whose task has a newer one, or has ended, changes nothing. */
  start(starts: readonly AttemptStart[]): void {
    for (const { arrival, startId, startTimeUs, attempts } of starts) {
      const before = this.#lookup.live(arrival)
      if (!before) continue
      const table = before.table
      if (table === 'waiting') continue
      const changed = this.#start.run(
        STATE_NUMBER.running,
        startId,
        JSON.stringify({ a: attempts, t: startTimeUs }),
        arrival,
        startId,
      ).changes
      if (changed === 1) this.#move(before.row.state, STATE_NUMBER.running)
    }
  }

  run(update: PackedUpdate): UpdateOutcome {
    const { transitions } = update
    const places = this.#placesOf(transitions)
    const refused: { index: number; stored: TaskRow | undefined }[] = []
    const positions: number[] = update.entryEnds.map(() => 0)
    const ends: { transition: PackedTransition; position: number }[] = []
    const commitTime = this.#log.commitTime(update.now)
    const entries = Buffer.from(update.entries.buffer, update.entries.byteOffset, update.entries.byteLength)
    const seen = new Set<number>()
    transitions.forEach((transition, index) => {
      // The same task twice in one group of transitions: the second must see what the first has stored.
      if (seen.has(transition.arrival)) this.#endAll(ends.splice(0), places)
      const place = seen.has(transition.arrival)
        ? this.#placeOf(transition.arrival)
        : places.get(transition.arrival)
      seen.add(transition.arrival)
      if (!place || place.startId > transition.startId || (place.table === 'ended' && !transition.reopen)) {
        refused.push({ index, stored: place && this.#lookup.find(transition.arrival)?.row })
        return
      }
      places.set(transition.arrival, place)
      for (let entry = transition.entriesFrom; entry < transition.entriesTo; entry++) {
        const from = entry === 0 ? 0 : (update.entryEnds[entry - 1] as number)
        positions[entry] = this.#log.add(entries.subarray(from, update.entryEnds[entry]))
      }
      if (transition.ended) ends.push({ transition, position: positions[transition.entriesTo - 1] as number })
      else this.#live(transition, place)
      this.#remember(transition, positions)
    })
    this.#endAll(ends, places)
    return { refused, positions, commitTime }
  }

  #placesOf(transitions: readonly PackedTransition[]): Map<number, Place> {
    const places = new Map<number, Place>()
    const rows = this.#places.all(JSON.stringify(transitions.map(({ arrival }) => arrival))) as [
      number,
      number,
      number,
    ][]
    for (const [arrival, state, startId] of rows) places.set(arrival, { table: 'near', state, startId })
    if (places.size === transitions.length) return places
    for (const { arrival } of transitions) {
      if (places.has(arrival)) continue
      const place = this.#placeOf(arrival)
      if (place) places.set(arrival, place)
    }
    return places
  }

  #placeOf(arrival: number): Place | undefined {
    const live = this.#lookup.live(arrival)
    if (live) return { table: live.table, state: live.row.state, startId: live.row.start_id }
    const ended = this.#endedState.get(arrival) as { state: number } | undefined
    return ended && { table: 'ended', state: ended.state, startId: 0 }
  }

  #live(transition: PackedTransition, place: Place): void {
    const row = transition.live as TaskRow
    const handler = this.#handlers.numberOf(row.handler)
    this.#move(place.state, row.state)
    if (place.table === 'ended') {
      const end = this.#endedState.get(row.arrival) as { position: number }
      const last = this.#lookup.entryAt(end.position)
      if (last) this.#rememberRun.run(row.arrival, last.entry.run, end.position)
      this.#forgetEnd.run(row.arrival)
      this.#reopen.run(
        row.arrival,
        idKey(row.id),
        row.shard,
        handler,
        row.state,
        row.paused,
        row.priority,
        row.due,
        row.notBefore,
        row.created,
        this.#log.latest,
        row.startId,
        row.progress,
        row.spec,
      )
      return
    }
    this.#update[place.table].run(
      row.shard,
      handler,
      row.state,
      row.paused,
      row.priority,
      row.due,
      row.notBefore,
      row.startId,
      row.progress,
      row.arrival,
    )
    if (transition.newSpec) this.#updateSpec[place.table].run(row.spec, row.arrival)
  }

  /** Results that did not end their task are found by run; the last one is found through `ended`. */
  #remember(transition: PackedTransition, positions: readonly number[]): void {
    const keep = transition.ended ? transition.runs.length - 1 : transition.runs.length
    for (let i = 0; i < keep; i++) {
      const run = transition.runs[i] as number
      if (run > 0) this.#rememberRun.run(transition.arrival, run, positions[transition.entriesFrom + i])
    }
  }

  #endAll(
    ends: readonly { transition: PackedTransition; position: number }[],
    places: ReadonlyMap<number, Place>,
  ): void {
    if (ends.length === 0) return
    const keys: string[] = []
    const numbers = Buffer.allocUnsafe(ends.length * ROW_WIDTH)
    const arrivals: { near: number[]; waiting: number[] } = { near: [], waiting: [] }
    ends.forEach(({ transition, position }, i) => {
      const ended = transition.ended as NonNullable<PackedTransition['ended']>
      const place = places.get(transition.arrival) as Place
      const write = (name: keyof typeof FIELDS, value: number): void =>
        writeDigits(numbers, i * ROW_WIDTH + FIELDS[name][0], FIELDS[name][1], value)
      keys.push(ended.key)
      write('arrival', transition.arrival)
      write('position', position)
      write('due', ended.due)
      write('state', ended.state)
      write('handler', this.#handlers.numberOf(ended.handler))
      this.#move(place.state, ended.state)
      if (place.table !== 'ended') arrivals[place.table].push(transition.arrival)
    })
    if (arrivals.near.length > 0) this.#endNear.run(JSON.stringify(arrivals.near))
    if (arrivals.waiting.length > 0) this.#endWaiting.run(JSON.stringify(arrivals.waiting))
    this.#ended.run(JSON.stringify(keys), numbers)
  }

  #move(from: number, to: number): void {
    if (from === to) return
    this.#counts.add(from, -1)
    this.#counts.add(to, 1)
  }
}

/** States that a task can leave only by being opened again. */
export const isEndNumber = (state: number): boolean => !isLive(stateOf(state))
