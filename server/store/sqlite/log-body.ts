import type { Instant } from '../../task/instant.js'
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

/** A row of the log. */
export class LogBody {
  readonly first: number
  readonly last: number
  readonly commitTime: Instant
  readonly #body: Buffer
  /** Where each entry begins, and its offset: ascending. */
  readonly #starts: number[] = []
  readonly #offsets: number[] = []

  constructor(row: { first: number; last: number; time: number; body: Uint8Array }) {
    this.first = row.first
    this.last = row.last
    this.commitTime = row.time
    this.#body = Buffer.from(row.body.buffer, row.body.byteOffset, row.body.byteLength)
    for (let start = 0; start < this.#body.length; start += 4 + this.#body.readUInt32LE(start)) {
      this.#starts.push(start)
      this.#offsets.push(this.#body.readUInt32LE(start + 4))
    }
  }

  /** The entry at a position, if the row has it (still). */
  entryAt(position: number): PackedEntry | undefined {
    const offset = position - this.first
    let low = 0
    let high = this.#offsets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#offsets[middle] as number) < offset) low = middle + 1
      else high = middle
    }
    if (this.#offsets[low] !== offset) return undefined
    const start = this.#starts[low] as number
    return readEntry(this.#body, start, this.#starts[low + 1] ?? this.#body.length)
  }
}

/** Reads an entry that stands alone. */
export const readOne = (entry: Buffer): PackedEntry => readEntry(entry, 0, entry.length)

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
