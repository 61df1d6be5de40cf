import type { Connection } from './connection.js'
import type { Counts } from './counts.js'
import { DigitRows } from './digits.js'
import { STATE_NUMBER } from './numbers.js'
import { type PackedStarts, START, UPDATE, type WriteOperation } from './operations.js'

const ROW = new DigitRows('?2', { startId: 15, startTimeUs: 17, attempts: 15 })

/** Notes that attempts of tasks have begun that a scheduler holds. */
export class StartNotes {
  readonly #note
  readonly #counts: Counts

  constructor(connection: Connection, counts: Counts) {
    this.#note = connection.prepare(`
      UPDATE near SET state = ${STATE_NUMBER.running}, start_id = v.start_id, start_us = v.start_us, attempts = v.attempts
      FROM (SELECT e.value AS arrival, ${ROW.field('startId')} AS start_id, ${ROW.field('startTimeUs')} AS start_us, ${ROW.field('attempts')} AS attempts
            FROM json_each(?1) e) v
      WHERE near.arrival = v.arrival AND near.start_id < v.start_id AND near.state = ?3`)
    this.#counts = counts
  }

  /** A start whose task has a newer one, or has ended, changes nothing. */
  run({ count, numbers }: PackedStarts): void {
    const arrivals: number[] = []
    const rows = ROW.rows(count)
    for (let at = 0; at < count * START.width; at += START.width) {
      arrivals.push(numbers[at + START.arrival] as number)
      rows.put(numbers[at + START.startId] as number)
      rows.put(numbers[at + START.startTimeUs] as number)
      rows.put(numbers[at + START.attempts] as number)
    }
    // of two starts of one task in one statement, either might win
    if (new Set(arrivals).size < count) {
      for (let i = 0; i < count; i++)
        this.run({ count: 1, numbers: numbers.subarray(i * START.width, (i + 1) * START.width) })
      return
    }
    const keys = JSON.stringify(arrivals)
    const { scheduled, running } = STATE_NUMBER
    const moved = this.#note.run(keys, rows.bytes, scheduled).changes
    if (moved < count) this.#note.run(keys, rows.bytes, running)
    this.#counts.add(scheduled, -moved)
    this.#counts.add(running, moved)
  }
}

/** A group without the notes of starts whose ends are in it too: nobody would ever see them. */
export function withoutEnded(group: readonly WriteOperation[]): readonly WriteOperation[] {
  if (!group.some(({ kind }) => kind === 'start') || group.some(({ kind }) => kind === 'get')) return group
  const ended = new Set<number>()
  for (const operation of group) {
    if (operation.kind !== 'update') continue
    const { count, numbers } = operation.update
    for (let at = 0; at < count * UPDATE.width; at += UPDATE.width)
      if (numbers[at + UPDATE.ended] === 1) ended.add(numbers[at + UPDATE.arrival] as number)
  }
  if (ended.size === 0) return group
  return group.map((operation) =>
    operation.kind === 'start' ? { kind: 'start', starts: without(operation.starts, ended) } : operation,
  )
}

function without({ count, numbers }: PackedStarts, ended: ReadonlySet<number>): PackedStarts {
  const kept = new Float64Array(numbers.length)
  let left = 0
  for (let i = 0; i < count; i++) {
    const start = numbers.subarray(i * START.width, (i + 1) * START.width)
    if (ended.has(start[START.arrival] as number)) continue
    kept.set(start, left * START.width)
    left += 1
  }
  return { count: left, numbers: kept }
}
