import { DEFAULT_RETRY } from '../../task/retry.js'
import { type Labels, NO_PAYLOAD, type Payload, type TaskSpec, type When } from '../../task/task-spec.js'

const NO_LABELS: Labels = Object.freeze({})

/** The parts of a spec that have no column of their own, defaults left out. Field names are short because they are kept a million times. */
interface SpecHeader {
  /** Kind of payload: absent none, 1 JSON, 2 bytes. */
  p?: 1 | 2
  /** When: absent now, [1, due time], [2, delay]. */
  w?: [1 | 2, number]
  rc?: TaskSpec['recurrence']
  rt?: TaskSpec['retry']
  t?: number
  s?: number
  k?: string
  o?: 1
  l?: Labels
  tp?: string
  ts?: string
  g?: string
  m?: number
}

const DEFAULT_TIMEOUT_MS = 3_600_000
const DEFAULT_REMEMBER_MS = 86_400_000

function headerOf(spec: TaskSpec): SpecHeader {
  const header: SpecHeader = {}
  if (spec.payload.kind !== 'none') header.p = spec.payload.kind === 'json' ? 1 : 2
  if (spec.when.kind === 'at') header.w = [1, spec.when.dueTime]
  else if (spec.when.kind === 'after') header.w = [2, spec.when.delayMs]
  if (spec.recurrence) header.rc = spec.recurrence
  if (spec.retry !== DEFAULT_RETRY) header.rt = spec.retry
  if (spec.attemptTimeoutMs !== DEFAULT_TIMEOUT_MS) header.t = spec.attemptTimeoutMs
  if (spec.startWithinMs !== undefined) header.s = spec.startWithinMs
  if (spec.concurrencyKey !== '') header.k = spec.concurrencyKey
  if (spec.atMostOnce) header.o = 1
  for (const _ in spec.labels) {
    header.l = spec.labels
    break
  }
  if (spec.traceparent !== '') header.tp = spec.traceparent
  if (spec.tracestate !== '') header.ts = spec.tracestate
  if (spec.origin !== '') header.g = spec.origin
  if (spec.rememberIdForMs !== DEFAULT_REMEMBER_MS) header.m = spec.rememberIdForMs
  return header
}

/** What the columns beside the packed spec hold. */
export interface SpecColumns {
  readonly id: string
  readonly handler: string
  readonly priority: number
}

/** A spec without id, handler and priority as bytes: length of the header, header as JSON, payload as it came. */
export function packSpec(spec: TaskSpec): Buffer {
  const header = JSON.stringify(headerOf(spec))
  const headerBytes = Buffer.byteLength(header)
  const payload = spec.payload
  const payloadBytes =
    payload.kind === 'json'
      ? Buffer.byteLength(payload.text)
      : payload.kind === 'bytes'
        ? payload.bytes.length
        : 0
  const packed = Buffer.allocUnsafe(4 + headerBytes + payloadBytes)
  packed.writeUInt32LE(headerBytes, 0)
  packed.write(header, 4)
  if (payload.kind === 'json') packed.write(payload.text, 4 + headerBytes)
  else if (payload.kind === 'bytes') packed.set(payload.bytes, 4 + headerBytes)
  return packed
}

function payloadOf(kind: SpecHeader['p'], bytes: Buffer): Payload {
  if (kind === 1) return { kind: 'json', text: bytes.toString('utf8') }
  if (kind === 2) return { kind: 'bytes', bytes: new Uint8Array(bytes) }
  return NO_PAYLOAD
}

function whenOf(packed: SpecHeader['w']): When {
  if (packed === undefined) return { kind: 'now' }
  return packed[0] === 1 ? { kind: 'at', dueTime: packed[1] } : { kind: 'after', delayMs: packed[1] }
}

export function unpackSpec(bytes: Uint8Array, columns: SpecColumns): TaskSpec {
  const packed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const headerEnd = 4 + packed.readUInt32LE(0)
  const header = JSON.parse(packed.toString('utf8', 4, headerEnd)) as SpecHeader
  return {
    id: columns.id,
    handler: columns.handler,
    payload: payloadOf(header.p, packed.subarray(headerEnd)),
    when: whenOf(header.w),
    ...(header.rc ? { recurrence: header.rc } : {}),
    retry: header.rt ?? DEFAULT_RETRY,
    attemptTimeoutMs: header.t ?? DEFAULT_TIMEOUT_MS,
    ...(header.s === undefined ? {} : { startWithinMs: header.s }),
    priority: columns.priority,
    concurrencyKey: header.k ?? '',
    atMostOnce: header.o === 1,
    labels: header.l ?? NO_LABELS,
    traceparent: header.tp ?? '',
    tracestate: header.ts ?? '',
    origin: header.g ?? '',
    rememberIdForMs: header.m ?? DEFAULT_REMEMBER_MS,
  }
}
