import type { PurgeRules, PurgeStep } from '../task-store.js'
import { BytesOut } from './bytes-out.js'
import type { Connection } from './connection.js'
import type { Counts } from './counts.js'
import { idFromKey, idKey } from './id-key.js'
import { type LogRow, pieces } from './log-body.js'
import { KIND } from './log-entry-codec.js'
import type { Lookup } from './lookup.js'
import {
  type Fate,
  type FateRules,
  fateOf,
  lookAt,
  nextLook,
  type PurgedEntry,
  writeLeft,
} from './purge-row.js'

interface Row extends LogRow {
  readonly entries: number
}

/** An entry and what becomes of it. */
interface Judged {
  readonly bytes: Uint8Array
  readonly entry: PurgedEntry
  /** Its task ended with it and was not opened again. */
  readonly isEnd: boolean
  readonly fate: Fate
}

const ROW = 'first_position AS first, last_position AS last, commit_time AS time, entries, body'

/**
 * Removes results row by row of the log, from its beginning. Up to the floor the log cannot be read any more; what is left there (what failed and is kept longer,
 * tasks whose ids are remembered) is found by task, and looked at again when its time has come.
 */
export class Purge {
  readonly #counts: Counts
  readonly #lookup: Lookup
  readonly #next
  readonly #due
  readonly #oldestKept
  readonly #rewrite
  readonly #remove
  readonly #ends
  readonly #forgetEnds
  readonly #forgetIds
  readonly #forgetRun
  readonly #out = new BytesOut()

  constructor(connection: Connection, parts: { readonly counts: Counts; readonly lookup: Lookup }) {
    this.#counts = parts.counts
    this.#lookup = parts.lookup
    this.#next = connection.prepare(
      `SELECT ${ROW} FROM log WHERE first_position > ? ORDER BY first_position LIMIT 1`,
    )
    this.#due = connection.prepare(
      `SELECT ${ROW} FROM log WHERE expires IS NOT NULL AND expires <= ? ORDER BY expires LIMIT 1`,
    )
    this.#oldestKept = connection.prepare(
      `SELECT ${ROW} FROM log WHERE expires IS NOT NULL AND entries > 0 ORDER BY first_position LIMIT 1`,
    )
    this.#rewrite = connection.prepare(
      'UPDATE log SET entries = ?, expires = ?, body = ? WHERE first_position = ?',
    )
    this.#remove = connection.prepare('DELETE FROM log WHERE first_position = ?')
    this.#ends = connection.prepare(
      'SELECT t.arrival FROM json_each(?1) e CROSS JOIN ended t ON t.arrival = e.value WHERE t.position BETWEEN ?2 AND ?3',
    )
    this.#forgetEnds = connection.prepare(
      'DELETE FROM ended WHERE arrival IN (SELECT value FROM json_each(?)) RETURNING state',
    )
    this.#forgetIds = connection.prepare(
      `DELETE FROM ids WHERE namespace = '' AND id IN (SELECT ${idFromKey('e.value')} FROM json_each(?) e)`,
    )
    this.#forgetRun = connection.prepare(
      'DELETE FROM runs WHERE arrival = ? AND run = ? AND position BETWEEN ? AND ?',
    )
  }

  step(rules: PurgeRules): PurgeStep {
    const step = { entries: 0, tasks: 0, more: false }
    let looked = 0
    for (let found = this.#find(rules); found; found = this.#find(rules)) {
      if (looked >= rules.maxEntries) return { ...step, more: true }
      looked += this.#purge(found.row, { ...rules, pressed: found.pressed }, step)
    }
    return step
  }

  /** The row whose turn it is, and how hard it is to be judged. */
  #find(rules: PurgeRules): { row: Row; pressed: FateRules['pressed'] } | undefined {
    const due = this.#due.get(rules.now) as unknown as Row | undefined
    if (due) return { row: due, pressed: 'none' }
    const isOver = this.#counts.get('logBytes') > rules.maxBytes
    const row = this.#next.get(this.#counts.logFloor.position) as unknown as Row | undefined
    if (row && row.last <= rules.keepAfter) {
      if (row.time < Math.max(...Object.values(rules.before))) return { row, pressed: 'none' }
      if (isOver) return { row, pressed: 'but failed' }
    }
    const kept = isOver ? (this.#oldestKept.get() as unknown as Row | undefined) : undefined
    return kept && { row: kept, pressed: 'all' }
  }

  /** @returns how many entries were looked at. */
  #purge(row: Row, rules: FateRules, step: { entries: number; tasks: number }): number {
    const judged = this.#judge(row, rules)
    step.tasks += this.#forget(judged, row)
    step.entries += this.#write(row, judged, rules)
    if (row.first > this.#counts.logFloor.position) {
      this.#counts.add('log', -row.entries)
      this.#counts.logFloor = { position: row.last, commitTime: row.time }
    }
    this.#lookup.forget()
    return judged.length
  }

  #judge({ first, last, time, body }: Row, rules: FateRules): Judged[] {
    const seen = Array.from(pieces(body), ([start, end]) => {
      const bytes = body.subarray(start, end)
      return { bytes, entry: lookAt(bytes) }
    })
    const ending = seen.filter(({ entry }) => entry.rememberUntil > 0).map(({ entry }) => entry.arrival)
    const found = this.#ends.all(JSON.stringify(ending), first, last) as { arrival: number }[]
    const ends = new Set(found.map(({ arrival }) => arrival))
    return seen.map(({ bytes, entry }) => {
      const isEnd = entry.rememberUntil > 0 && ends.has(entry.arrival)
      return { bytes, entry, isEnd, fate: fateOf(entry, time, isEnd, rules) }
    })
  }

  /** @returns how many tasks are not known any more. */
  #forget(judged: readonly Judged[], { first, last }: Row): number {
    const gone = judged.filter(({ fate }) => fate !== 'whole')
    for (const { entry, isEnd } of gone)
      if (entry.kind === KIND.result && !isEnd) this.#forgetRun.run(entry.arrival, entry.run, first, last)
    const tasks = gone.filter(({ isEnd, fate }) => isEnd && fate === 'gone').map(({ entry }) => entry)
    if (tasks.length === 0) return 0
    const states = this.#forgetEnds.all(JSON.stringify(tasks.map(({ arrival }) => arrival))) as {
      state: number
    }[]
    for (const { state } of states) this.#counts.add(state, -1)
    this.#forgetIds.run(JSON.stringify(tasks.map(({ id }) => idKey(id))))
    return states.length
  }

  /** Writes what is left of a row. @returns how many entries are no longer there whole. */
  #write(row: Row, judged: readonly Judged[], rules: FateRules): number {
    this.#out.clear()
    let [wholeBefore, whole, bytes] = [0, 0, 0]
    let expires = Number.POSITIVE_INFINITY
    for (const { bytes: packed, entry, fate } of judged) {
      const wasWhole = entry.kind !== KIND.outline
      if (wasWhole) {
        wholeBefore += 1
        bytes -= packed.length
      }
      if (fate === 'gone') continue
      writeLeft(this.#out, packed, fate)
      expires = Math.min(expires, nextLook(entry, fate, row.time, rules))
      if (fate === 'outline') continue
      whole += 1
      bytes += packed.length
    }
    this.#counts.add('logBytes', bytes)
    if (this.#out.length === 0) this.#remove.run(row.first)
    else this.#rewrite.run(whole, expires, this.#out.take(), row.first)
    return wholeBefore - whole
  }
}
