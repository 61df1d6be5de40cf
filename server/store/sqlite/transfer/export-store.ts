import type { LogPosition, StoredConsumer } from '../../task-store.js'
import type { TaskResult } from '../../../task/result.js'
import { EXPORT_FORMAT, type ExportLine } from '../../transfer/export-line.js'
import type { Connection } from '../connection.js'
import { ConsumerRows } from '../consumers.js'
import { Counts } from '../counts.js'
import { HandlerNumbers } from '../handler-numbers.js'
import { type LogRow, pieces } from '../log-body.js'
import { ENTRY, endedTask, isOutline, readEntry, type StoredEntry } from '../log-entry-codec.js'
import { type LiveRow, Lookup } from '../lookup.js'
import { Meta } from '../meta.js'
import { openSnapshot } from '../snapshot.js'
import { LIVE_COLUMNS } from '../table-columns.js'
import { taskOf } from '../task-rows.js'

/** How results are written as bytes; the store is given both ways, and knows neither. */
export interface ResultCodec {
  readonly encode: (result: TaskResult) => Uint8Array
  /** @returns undefined for bytes that are no result, or say more than one of this version can. */
  readonly decode: (bytes: Uint8Array) => TaskResult | undefined
}

/**
 * Live tasks that are read at once. No statement is left half read while others have their turn: the binding does not keep one alive whose rows are being iterated, so
 * that a garbage collection in between ends the process.
 */
const PAGE = 64

export interface ExportedLine {
  readonly line: ExportLine
  /** How much of the store is done, from 0 to 1; roughly. */
  readonly done: number
}

/**
 * All that a store holds, line by line, as it is at one moment; changes nothing. Reads in one transaction, so beside a busy server rather export a backup: the
 * write-ahead log cannot be cut while the reader takes its time.
 *
 * @param path - A data folder, whether a server uses it or not, or a file such as a backup.
 * @throws StoreOpenError when there is no store that can be read.
 * @example for (const { line } of exportStore('/backups/monday.db', codec)) file.write(`${writeLine(line)}\n`)
 */
export function* exportStore(path: string, codec: ResultCodec): Generator<ExportedLine> {
  const snapshot = openSnapshot(path)
  try {
    const { connection } = snapshot
    const counts = new Counts(connection)
    const { scheduled, running } = counts.byState()
    const total = scheduled + running + counts.get('log')
    let lines = 0
    for (const line of linesOf(connection, counts, codec))
      yield { line, done: Math.min(1, ++lines / Math.max(1, total)) }
    yield { line: { type: 'end', lines }, done: 1 }
  } finally {
    snapshot.close()
  }
}

function* linesOf(connection: Connection, counts: Counts, codec: ResultCodec): Generator<ExportLine> {
  const { position, commitTime } = counts.logFloor
  yield {
    type: 'export',
    format: EXPORT_FORMAT,
    nextStartId: new Meta(connection).nextStartId,
    newestArrival: counts.newestArrival,
    lastChange: counts.lastChange,
    logFloor: { position, commitTime },
  }
  const consumers = new ConsumerRows(connection).run({ kind: 'consumers' }) as readonly StoredConsumer[]
  for (const consumer of consumers) yield { type: 'consumer', consumer }
  yield* liveTasks(connection)
  yield* logEntries(connection, codec)
}

/** By arrival, wherever they stand: a scheduler's window is no matter of an export. */
function* liveTasks(connection: Connection): Generator<ExportLine> {
  const lookup = new Lookup(connection, new HandlerNumbers(connection))
  const next = connection.prepare(
    `SELECT ${LIVE_COLUMNS} FROM near WHERE arrival > ?1 UNION ALL SELECT ${LIVE_COLUMNS} FROM waiting WHERE arrival > ?1 ORDER BY arrival LIMIT ${PAGE}`,
  )
  let after = 0
  for (;;) {
    const rows = next.all(after) as unknown as LiveRow[]
    for (const row of rows)
      yield { type: 'task', logPosition: row.log_position, task: taskOf(lookup.rowOf(row)) }
    const last = rows.at(-1)
    if (!last) return
    after = last.arrival
  }
}

function* logEntries(connection: Connection, codec: ResultCodec): Generator<ExportLine> {
  const end = connection.prepare('SELECT position FROM ended WHERE arrival = ?')
  const isEnd = (arrival: number, position: LogPosition): boolean =>
    (end.get(arrival) as { position: number } | undefined)?.position === position
  const next = connection.prepare(
    'SELECT first_position AS first, last_position AS last, commit_time AS time, body FROM log WHERE first_position > ? ORDER BY first_position LIMIT 1',
  )
  let row: LogRow | undefined
  while ((row = next.get(row?.first ?? 0) as unknown as LogRow | undefined)) {
    const { first, time, body } = row
    const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
    for (const [start, stop] of pieces(body)) {
      const position = first + view.getUint32(start + ENTRY.offset, true)
      const piece = body.subarray(start, stop)
      const entry = readEntry(piece)
      const task = entry.task.length > 0 && isEnd(entry.arrival, position) ? endedTask(entry) : undefined
      if (!isOutline(piece)) {
        const result = resultOf(entry, codec)
        const at = { position, commitTime: time, arrival: entry.arrival }
        yield { type: 'result', ...at, result, ...(task && { task }) }
      } else if (task) {
        const { outcome, run } = entry
        yield { type: 'ended', position, commitTime: time, outcome, run, task }
      }
    }
  }
}

/** Bytes that would not be written again as they are, such as those of another version, go as they are: nothing that they say may get lost. */
function resultOf(entry: StoredEntry, { encode, decode }: ResultCodec) {
  const { kind, outcome, taskId, handler, run, origin, labels, bytes } = entry
  const result = decode(bytes)
  if (result && Buffer.compare(encode(result), bytes) === 0) return result
  return { kind, outcome, taskId, handler, run, origin, labels, sealed: bytes }
}
