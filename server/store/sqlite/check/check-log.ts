import type { Connection } from '../connection.js'
import type { Counts } from '../counts.js'
import { type LogRow, pieces } from '../log-body.js'
import { endedTask, isOutline, readEntry } from '../log-entry-codec.js'
import { Tally } from './tally.js'

interface Row extends LogRow {
  readonly entries: number
}

export interface LogFindings {
  readonly findings: readonly Tally[]
  /** The newest position. */
  readonly latest: number
}

/** The log has no hole but what retention took, its times never go back, and each entry can be read. */
export function checkLog(connection: Connection, counts: Counts): LogFindings {
  const rows = new Tally('the log has no hole but what retention took')
  const entries = new Tally('each entry of the log can be read')
  const counted = new Tally('the log is as long as counted')
  const floor = counts.logFloor
  let [latest, time, readable, bytes] = [0, 0, 0, 0]
  const all = connection
    .prepare(
      'SELECT first_position AS first, last_position AS last, commit_time AS time, entries, body FROM log ORDER BY first_position',
    )
    .iterate() as Iterable<unknown>
  for (const row of all as Iterable<Row>) {
    const isReadable = row.first > floor.position
    rows.note(rowFault(row, { latest, time, isReadable, floor: floor.position }))
    const found = readRow(row, entries)
    bytes += found.bytes
    if (isReadable) {
      readable += row.entries
      if (found.entries !== row.entries || found.entries !== row.last - row.first + 1)
        rows.note(
          `positions ${row.first} to ${row.last}: ${found.entries} entries, ${row.entries} are counted`,
        )
    }
    latest = row.last
    time = row.time
  }
  compare(counted, 'entries', readable, counts.get('log'))
  compare(counted, 'bytes', bytes, counts.get('logBytes'))
  return { findings: [rows, entries, counted], latest: Math.max(latest, floor.position) }
}

function rowFault(
  { first, last, time }: Row,
  before: { latest: number; time: number; isReadable: boolean; floor: number },
): string | undefined {
  const expected = Math.max(before.latest, before.floor) + 1
  if (last < first || first <= before.latest) return `positions ${first} to ${last} after ${before.latest}`
  if (before.isReadable && first !== expected) return `nothing from ${expected} to ${first - 1}`
  if (!before.isReadable && last > before.floor)
    return `positions ${first} to ${last} are cut at ${before.floor}`
  if (time < before.time) return `position ${first} was committed before the one before it`
  return undefined
}

/** @returns how many entries there are, and the bytes of those that have a result. */
function readRow({ first, last, body }: Row, tally: Tally): { entries: number; bytes: number } {
  let [entries, bytes, before] = [0, 0, -1]
  try {
    for (const [start, end] of pieces(body)) {
      const piece = body.subarray(start, end)
      const entry = readEntry(piece)
      if (entry.task.length > 0) endedTask(entry)
      const isInOrder = entry.offset > before && first + entry.offset <= last
      tally.note(isInOrder ? undefined : `position ${first + entry.offset} in the row ${first} to ${last}`)
      before = entry.offset
      entries += 1
      if (!isOutline(piece)) bytes += piece.length
    }
  } catch (error) {
    tally.note(`entry ${entries + 1} of the row ${first} to ${last}: ${(error as Error).message}`)
  }
  return { entries, bytes }
}

function compare(tally: Tally, what: string, found: number, counted: number): void {
  tally.note(found === counted ? undefined : `${found} ${what}, ${counted} are counted`)
}
