import type { Recurrence } from '../../task/recurrence/recurrence.js'
import { DEFAULT_RETRY, type RetryPolicy } from '../../task/retry.js'
import { type Labels, NO_PAYLOAD, type Payload, type TaskSpec, type When } from '../../task/task-spec.js'
import { BytesIn } from './bytes-in.js'
import type { BytesOut } from './bytes-out.js'

const NO_LABELS: Labels = Object.freeze({})
const DEFAULT_TIMEOUT_MS = 3_600_000
const DEFAULT_REMEMBER_MS = 86_400_000

/** Which parts are there: what has its default takes no room. Never renumber: files hold them. */
const HAS = {
  json: 1,
  bytes: 2,
  dueTime: 4,
  delay: 8,
  recurrence: 16,
  retry: 32,
  timeout: 64,
  startWithin: 128,
  key: 256,
  atMostOnce: 512,
  labels: 1_024,
  traceparent: 2_048,
  tracestate: 4_096,
  origin: 8_192,
  remember: 16_384,
  forgotten: 32_768,
} as const

/** What the columns beside a packed spec hold. */
export interface SpecColumns {
  readonly id: string
  readonly handler: string
  readonly priority: number
}

function partsOf(spec: TaskSpec): number {
  let parts = 0
  if (spec.payload.kind === 'json') parts |= HAS.json
  else if (spec.payload.kind === 'bytes') parts |= HAS.bytes
  else if (spec.payload.kind === 'forgotten') parts |= HAS.forgotten
  if (spec.when.kind === 'at') parts |= HAS.dueTime
  else if (spec.when.kind === 'after') parts |= HAS.delay
  if (spec.recurrence) parts |= HAS.recurrence
  if (spec.retry !== DEFAULT_RETRY) parts |= HAS.retry
  if (spec.attemptTimeoutMs !== DEFAULT_TIMEOUT_MS) parts |= HAS.timeout
  if (spec.startWithinMs !== undefined) parts |= HAS.startWithin
  if (spec.concurrencyKey !== '') parts |= HAS.key
  if (spec.atMostOnce) parts |= HAS.atMostOnce
  for (const _ in spec.labels) {
    parts |= HAS.labels
    break
  }
  if (spec.traceparent !== '') parts |= HAS.traceparent
  if (spec.tracestate !== '') parts |= HAS.tracestate
  if (spec.origin !== '') parts |= HAS.origin
  if (spec.rememberIdForMs !== DEFAULT_REMEMBER_MS) parts |= HAS.remember
  return parts
}

/** A spec without id, handler and priority: which parts there are, each of them, then the payload as it came. */
export function writeSpec(out: BytesOut, spec: TaskSpec): void {
  const parts = partsOf(spec)
  out.u32(parts)
  const { when, payload } = spec
  if (when.kind === 'at') out.f64(when.dueTime)
  else if (when.kind === 'after') out.f64(when.delayMs)
  if (spec.recurrence) out.text(JSON.stringify(spec.recurrence), 4)
  if (parts & HAS.retry) out.text(JSON.stringify(spec.retry), 4)
  if (parts & HAS.timeout) out.f64(spec.attemptTimeoutMs)
  if (spec.startWithinMs !== undefined) out.f64(spec.startWithinMs)
  if (parts & HAS.key) out.text(spec.concurrencyKey, 2)
  if (parts & HAS.labels) out.text(JSON.stringify(spec.labels), 4)
  if (parts & HAS.traceparent) out.text(spec.traceparent, 2)
  if (parts & HAS.tracestate) out.text(spec.tracestate, 2)
  if (parts & HAS.origin) out.text(spec.origin, 2)
  if (parts & HAS.remember) out.f64(spec.rememberIdForMs)
  if (payload.kind === 'json') out.bareText(payload.text)
  else if (payload.kind === 'bytes') out.bytes(payload.bytes)
  else if (payload.kind === 'forgotten') out.bareText(payload.hash)
}

export function readSpec(bytes: Uint8Array, { id, handler, priority }: SpecColumns): TaskSpec {
  const from = new BytesIn(bytes)
  const parts = from.u32()
  const has = (part: number): boolean => (parts & part) !== 0
  const when: When = has(HAS.dueTime)
    ? { kind: 'at', dueTime: from.f64() }
    : has(HAS.delay)
      ? { kind: 'after', delayMs: from.f64() }
      : { kind: 'now' }
  const recurrence = has(HAS.recurrence) && (JSON.parse(from.text(4)) as Recurrence)
  const retry = has(HAS.retry) ? (JSON.parse(from.text(4)) as RetryPolicy) : DEFAULT_RETRY
  const attemptTimeoutMs = has(HAS.timeout) ? from.f64() : DEFAULT_TIMEOUT_MS
  const startWithinMs = has(HAS.startWithin) ? from.f64() : undefined
  const concurrencyKey = has(HAS.key) ? from.text(2) : ''
  const labels = has(HAS.labels) ? (JSON.parse(from.text(4)) as Labels) : NO_LABELS
  const traceparent = has(HAS.traceparent) ? from.text(2) : ''
  const tracestate = has(HAS.tracestate) ? from.text(2) : ''
  const origin = has(HAS.origin) ? from.text(2) : ''
  const rememberIdForMs = has(HAS.remember) ? from.f64() : DEFAULT_REMEMBER_MS
  return {
    id,
    handler,
    payload: payloadOf(parts, from.rest()),
    when,
    ...(recurrence && { recurrence }),
    retry,
    attemptTimeoutMs,
    ...(startWithinMs !== undefined && { startWithinMs }),
    priority,
    concurrencyKey,
    atMostOnce: has(HAS.atMostOnce),
    labels,
    traceparent,
    tracestate,
    origin,
    rememberIdForMs,
  }
}

function payloadOf(parts: number, bytes: Buffer): Payload {
  if (parts & HAS.json) return { kind: 'json', text: bytes.toString('utf8') }
  // a copy: what it was cut from is larger and would live as long
  if (parts & HAS.bytes) return { kind: 'bytes', bytes: new Uint8Array(bytes) }
  if (parts & HAS.forgotten) return { kind: 'forgotten', hash: bytes.toString('utf8') }
  return NO_PAYLOAD
}
