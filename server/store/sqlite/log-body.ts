import type { ResultOutcome, TaskResult } from '../../task/result.js'
import type { Labels } from '../../task/task-spec.js'
import { OUTCOME_NUMBER, outcomeOf } from './numbers.js'

/** An entry before it has a position: filter fields, the encoded result, and (for a task's last result) the packed task. */
export interface NewLogEntry {
  readonly kind: TaskResult['kind']
  readonly taskId: string
  readonly handler: string
  readonly outcome: ResultOutcome
  readonly origin: string
  readonly labels: Labels
  readonly run: number
  readonly bytes: Uint8Array
}

/** An entry found in a body. `offset`: its position less the body's first. */
export interface PackedEntry extends NewLogEntry {
  readonly offset: number
  readonly arrival: number
  /** Packed by `packEndedTask`; empty = none. */
  readonly task: Uint8Array
}

/**
 * One entry of a log body, little endian:
 * u32 length of all that follows · u32 offset · u8 kind · u8 outcome · f64 arrival · f64 run · u8 id length, id · u8 handler length, handler · u16 origin length, origin ·
 * u32 labels length, labels as JSON (0 = none) · u32 result length, result · task (the rest).
 */
export function packEntry(entry: Omit<PackedEntry, 'offset'>): Buffer {
  let labels = ''
  for (const _ in entry.labels) {
    labels = JSON.stringify(entry.labels)
    break
  }
  const id = Buffer.byteLength(entry.taskId)
  const handler = Buffer.byteLength(entry.handler)
  const origin = Buffer.byteLength(entry.origin)
  const labelBytes = Buffer.byteLength(labels)
  const total =
    26 + 1 + id + 1 + handler + 2 + origin + 4 + labelBytes + 4 + entry.bytes.length + entry.task.length
  const out = Buffer.allocUnsafe(total)
  out.writeUInt32LE(total - 4, 0)
  out.writeUInt32LE(0, 4)
  out[8] = entry.kind === 'result' ? 1 : 2
  out[9] = OUTCOME_NUMBER[entry.outcome]
  out.writeDoubleLE(entry.arrival, 10)
  out.writeDoubleLE(entry.run, 18)
  let at = 26
  out[at++] = id
  at += out.write(entry.taskId, at)
  out[at++] = handler
  at += out.write(entry.handler, at)
  at = out.writeUInt16LE(origin, at)
  at += out.write(entry.origin, at)
  at = out.writeUInt32LE(labelBytes, at)
  at += out.write(labels, at)
  at = out.writeUInt32LE(entry.bytes.length, at)
  out.set(entry.bytes, at)
  out.set(entry.task, at + entry.bytes.length)
  return out
}

/** Sets an entry's offset, once the commit knows where it stands in the body. */
export function setOffset(entry: Buffer, offset: number): void {
  entry.writeUInt32LE(offset, 4)
}

/** The labels that every entry without labels shares. */
const NO_LABELS: Labels = Object.freeze({})

/** Reads the entries of a body one after another. */
export function* readBody(stored: Uint8Array): Generator<PackedEntry> {
  const body = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
  let start = 0
  while (start < body.length) {
    const end = start + 4 + body.readUInt32LE(start)
    yield readEntry(body, start, end)
    start = end
  }
}

/** Finds the entry with this offset without unpacking the others. */
export function findEntry(stored: Uint8Array, offset: number): PackedEntry | undefined {
  const body = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
  let start = 0
  while (start < body.length) {
    const end = start + 4 + body.readUInt32LE(start)
    if (body.readUInt32LE(start + 4) === offset) return readEntry(body, start, end)
    start = end
  }
  return undefined
}

function readEntry(body: Buffer, start: number, end: number): PackedEntry {
  let at = start + 26
  const text = (length: number): string => {
    const from = at
    at += length
    return body.toString('utf8', from, at)
  }
  const taskId = text(body[at++] as number)
  const handler = text(body[at++] as number)
  at += 2
  const origin = text(body.readUInt16LE(at - 2))
  at += 4
  const labels = text(body.readUInt32LE(at - 4))
  const resultBytes = body.readUInt32LE(at)
  at += 4
  return {
    offset: body.readUInt32LE(start + 4),
    kind: body[start + 8] === 1 ? 'result' : 'attempt',
    outcome: outcomeOf(body[start + 9] as number),
    arrival: body.readDoubleLE(start + 10),
    run: body.readDoubleLE(start + 18),
    taskId,
    handler,
    origin,
    labels: labels === '' ? NO_LABELS : (JSON.parse(labels) as Labels),
    bytes: body.subarray(at, at + resultBytes),
    task: body.subarray(at + resultBytes, end),
  }
}
