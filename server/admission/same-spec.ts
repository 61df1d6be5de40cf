import { isDeepStrictEqual } from 'node:util'
import type { Payload, TaskSpec } from '../task/task-spec.js'

/** Who calls and in which trace says nothing about what is asked for. */
type Compared = Exclude<keyof TaskSpec, 'id' | 'traceparent' | 'tracestate' | 'origin'>

/** The fields that make two specs the same, by their names in the proto; a new field of a spec does not compile without its line here. */
const FIELDS: Readonly<Record<Compared, string>> = {
  handler: 'handler',
  payload: 'input',
  when: 'due_time/delay',
  recurrence: 'recurrence',
  retry: 'retry',
  attemptTimeoutMs: 'attempt_timeout',
  startWithinMs: 'start_within',
  priority: 'priority',
  concurrencyKey: 'concurrency_key',
  atMostOnce: 'at_most_once',
  labels: 'labels',
  rememberIdForMs: 'remember_id_for',
}
const COMPARED = Object.keys(FIELDS) as Compared[]

/**
 * Where two specs differ in what was sent: a delay is compared as a delay; the order of fields and keys does not matter.
 *
 * @returns names of fields in the proto; empty = the same spec.
 */
export function differences(a: TaskSpec, b: TaskSpec): string[] {
  return COMPARED.filter((key) => !isSame(key, a, b)).map((key) => FIELDS[key])
}

function isSame(key: Compared, a: TaskSpec, b: TaskSpec): boolean {
  if (key === 'payload') return isSamePayload(a.payload, b.payload)
  return a[key] === b[key] || isDeepStrictEqual(plain(a[key]), plain(b[key]))
}

/** Labels may come without a prototype and with one. */
const plain = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : value

function isSamePayload(a: Payload, b: Payload): boolean {
  if (a.kind === 'json' && b.kind === 'json') {
    return a.text === b.text || isDeepStrictEqual(JSON.parse(a.text), JSON.parse(b.text))
  }
  if (a.kind === 'bytes' && b.kind === 'bytes') return Buffer.compare(a.bytes, b.bytes) === 0
  return a.kind === b.kind
}
