import type { TaskResult } from '../../task/result.js'
import type { Labels } from '../../task/task-spec.js'
import type { Task } from '../../task/task.js'
import type { LogEntry } from '../task-store.js'
import { BytesIn } from './bytes-in.js'
import type { BytesOut } from './bytes-out.js'
import { OUTCOME_NUMBER, outcomeOf } from './numbers.js'
import { writeSpec } from './spec-codec.js'
import { readTask, writeHead } from './task-head.js'

/** An entry that no commit has numbered yet. */
export type NewLogEntry = Omit<LogEntry, 'position' | 'commitTime'>

/** An entry as it stands in a body. */
export interface StoredEntry extends NewLogEntry {
  /** Its position less that of the body's first entry. */
  readonly offset: number
  readonly arrival: number
  /** Packed: see `endedTask`; empty = none. */
  readonly task: Uint8Array
}

/** Fixed places in an entry. */
export const ENTRY = {
  length: 0,
  offset: 4,
  kind: 8,
  outcome: 9,
  arrival: 10,
  run: 18,
  rememberUntil: 26,
  id: 34,
} as const

/** Kinds as they are kept. `outline`: retention has taken the result away and left the task, whose id is still remembered. Never renumber. */
export const KIND = { result: 1, attempt: 2, outline: 3 } as const

/**
 * Writes one entry:
 * u32 length of all that follows · u32 offset · u8 kind · u8 outcome · f64 arrival · f64 run · f64 until when its task's id is remembered (0 = it has not ended here) ·
 * u8 length, id · u8 length, handler · u16 length, origin · u32 length, labels as JSON (0 = none) · u32 length, encoded result · if the task ended here: u32 length,
 * head · spec.
 *
 * @param ended - The task, if this entry is about its end.
 */
export function writeEntry(
  out: BytesOut,
  entry: NewLogEntry,
  arrival: number,
  ended: Task | undefined,
): void {
  const start = out.length
  out.u32(0)
  out.u32(0)
  out.u8(KIND[entry.kind])
  out.u8(OUTCOME_NUMBER[entry.outcome])
  out.f64(arrival)
  out.f64(entry.run)
  out.f64(ended ? ended.endTime + ended.spec.rememberIdForMs : 0)
  out.text(entry.taskId, 1)
  out.text(entry.handler, 1)
  out.text(entry.origin, 2)
  out.text(labelsText(entry.labels), 4)
  out.u32(entry.bytes.length)
  out.bytes(entry.bytes)
  if (ended) {
    const head = out.length
    out.u32(0)
    writeHead(out, ended)
    out.setU32(head, out.length - head - 4)
    writeSpec(out, ended.spec)
  }
  out.setU32(start, out.length - start - 4)
}

function labelsText(labels: Labels): string {
  for (const _ in labels) return JSON.stringify(labels)
  return ''
}

/** The labels that every entry without labels shares. */
const NO_LABELS: Labels = Object.freeze({})

const KINDS: Readonly<Record<number, TaskResult['kind']>> = {
  [KIND.result]: 'result',
  [KIND.attempt]: 'attempt',
  [KIND.outline]: 'result',
}

/** Reads one entry: the whole of these bytes. */
export function readEntry(entry: Uint8Array): StoredEntry {
  const from = new BytesIn(entry, ENTRY.offset)
  const offset = from.u32()
  const kind = KINDS[from.u8()]
  if (!kind) throw new Error('the store holds a log entry of an unknown kind')
  const outcome = outcomeOf(from.u8())
  const arrival = from.f64()
  const run = from.f64()
  from.f64()
  const taskId = from.text(1)
  const handler = from.text(1)
  const origin = from.text(2)
  const labels = from.text(4)
  const bytes = from.bytes(from.u32())
  return {
    offset,
    kind,
    outcome,
    arrival,
    run,
    taskId,
    handler,
    origin,
    labels: labels === '' ? NO_LABELS : (JSON.parse(labels) as Labels),
    bytes,
    task: from.rest(),
  }
}

export const runOf = (entry: Uint8Array): number =>
  new DataView(entry.buffer, entry.byteOffset).getFloat64(ENTRY.run, true)

export const isOutline = (entry: Uint8Array): boolean => entry[ENTRY.kind] === KIND.outline

/** Where the entry that begins at `start` ends without its task. */
export function entryEnd(body: Uint8Array, start: number): number {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  const at = resultAt(view, start)
  return at + 4 + view.getUint32(at, true)
}

/** Where the length of its result stands. */
function resultAt(view: DataView, start: number): number {
  let at = start + ENTRY.id
  at += 1 + view.getUint8(at)
  at += 1 + view.getUint8(at)
  at += 2 + view.getUint16(at, true)
  return at + 4 + view.getUint32(at, true)
}

/** Writes an entry without its result; what is left says which task had this id. */
export function writeOutline(out: BytesOut, entry: Uint8Array): void {
  const view = new DataView(entry.buffer, entry.byteOffset, entry.byteLength)
  const at = resultAt(view, 0)
  const start = out.length
  out.bytes(entry.subarray(0, at))
  out.u32(0)
  out.bytes(entry.subarray(at + 4 + view.getUint32(at, true)))
  out.setU8(start + ENTRY.kind, KIND.outline)
  out.setU32(start, out.length - start - 4)
}

/** The task that ended with this entry. */
export function endedTask({ task, arrival, taskId, handler }: StoredEntry): Task {
  const from = new BytesIn(task)
  const head = from.bytes(from.u32())
  return readTask(head, { arrival, id: taskId, handler, spec: from.rest() })
}
