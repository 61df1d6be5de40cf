import { Duration } from '../../proto/generated/google/protobuf/duration.js'
import { Timestamp } from '../../proto/generated/google/protobuf/timestamp.js'
import {
  Recurrence as WireRecurrence,
  RetryPolicy as WireRetry,
} from '../../proto/generated/punctual/v1/task.js'
import type { PayloadField } from '../admission/schedule-call.js'
import type { Violation } from '../task/errors.js'
import type { Recurrence } from '../task/recurrence/recurrence.js'
import { DEFAULT_RETRY, type RetryPolicy } from '../task/retry.js'
import { NO_PAYLOAD, type Labels, type Payload, type TaskSpec, type When } from '../task/task-spec.js'
import { toRecurrence } from './translate-recurrence.js'
import { toRetry } from './translate-retry.js'
import { toInstant, toMs } from './translate-time.js'
import { readValueAsJson } from './value-json.js'
import { type Decoder, decoded, NotingReader, type WireReader } from './wire-reader.js'

const HOUR = 3_600_000
const DEFAULT_ATTEMPT_TIMEOUT_MS = HOUR
const DEFAULT_REMEMBER_ID_MS = 24 * HOUR
const NOW: When = { kind: 'now' }
const NO_LABELS: Labels = Object.freeze({})

/** Of the task that was read before: most come from a few origins for a few handlers. */
let handlerBefore = ''
let originBefore = ''

/** A spec as it was read, with what was found on the way. */
export interface ReadSpec {
  readonly spec: TaskSpec
  readonly payloadField: PayloadField
  readonly unknownFields: readonly string[]
}

/**
 * Reads a `punctual.v1.TaskSpec` from the wire into the domain, in one pass.
 *
 * Not by generated code, for three reasons: that drops fields of newer clients in silence, loses what a Value or a text had wrong with it, and costs twice the time on
 * the path that every task takes. A field that is added to the proto and forgotten here is refused as unknown, and `test/rpc` compares with generated code.
 *
 * @param end - Where the message ends.
 * @throws BrokenMessageError when the bytes are no TaskSpec.
 */
export class TaskSpecReader {
  readonly #reader: WireReader
  readonly #found: Violation[]
  readonly #unknown: string[] = []
  #id = ''
  #handler = ''
  #payload: Payload = NO_PAYLOAD
  #payloadField: PayloadField = 'task.input'
  #when = NOW
  #recurrence: Recurrence | undefined
  #retry: RetryPolicy = DEFAULT_RETRY
  #attemptTimeoutMs = DEFAULT_ATTEMPT_TIMEOUT_MS
  #startWithinMs: number | undefined
  #priority = 0
  #concurrencyKey = ''
  #atMostOnce = false
  #labels: Record<string, string> | undefined
  #traceparent = ''
  #tracestate = ''
  #origin = ''
  #rememberIdForMs = DEFAULT_REMEMBER_ID_MS

  constructor(reader: WireReader, found: Violation[]) {
    this.#reader = reader
    this.#found = found
  }

  read(end: number): ReadSpec {
    const reader = this.#reader
    while (reader.pos < end) this.#readField(reader.uint32(), end)
    reader.expectEnd(end)
    return { spec: this.#spec(), payloadField: this.#payloadField, unknownFields: this.#unknown }
  }

  #spec(): TaskSpec {
    const spec = {
      id: this.#id,
      handler: this.#handler,
      payload: this.#payload,
      when: this.#when,
      retry: this.#retry,
      attemptTimeoutMs: this.#attemptTimeoutMs,
      priority: this.#priority,
      concurrencyKey: this.#concurrencyKey,
      atMostOnce: this.#atMostOnce,
      labels: this.#labels ?? NO_LABELS,
      traceparent: this.#traceparent,
      tracestate: this.#tracestate,
      origin: this.#origin,
      rememberIdForMs: this.#rememberIdForMs,
    }
    if (this.#recurrence === undefined && this.#startWithinMs === undefined) return spec
    return {
      ...spec,
      ...(this.#recurrence !== undefined && { recurrence: this.#recurrence }),
      ...(this.#startWithinMs !== undefined && { startWithinMs: this.#startWithinMs }),
    }
  }

  /** Field numbers and wire types as in task.proto: tag = number × 8 + wire type. */
  #readField(tag: number, end: number): void {
    const reader = this.#reader
    switch (tag) {
      case 10:
        this.#id = this.#text('task.id')
        break
      case 18:
        this.#handler = handlerBefore = this.#readable(this.#reader.textAfter(handlerBefore), 'task.handler')
        break
      case 26:
        this.#payloadField = 'task.input'
        this.#payload = {
          kind: 'json',
          text: readValueAsJson(reader, reader.end(end), 'task.input', this.#found),
        }
        break
      case 34:
        this.#payloadField = 'task.input_json'
        this.#payload = { kind: 'json', text: this.#text('task.input_json') }
        break
      case 42:
        this.#payloadField = 'task.input_bytes'
        // copied: the bytes around it are those of the whole request
        this.#payload = { kind: 'bytes', bytes: Uint8Array.from(reader.bytes()) }
        break
      case 50: {
        const dueTime = toInstant(this.#message(Timestamp, end), 'task.due_time', this.#found)
        this.#when = dueTime === undefined ? NOW : { kind: 'at', dueTime }
        break
      }
      case 58: {
        const delayMs = this.#duration('task.delay', end)
        this.#when = delayMs === undefined ? NOW : { kind: 'after', delayMs }
        break
      }
      case 66:
        this.#recurrence = toRecurrence(
          this.#message(WireRecurrence, end, 'task.recurrence'),
          'task.recurrence',
          this.#found,
        )
        break
      case 74:
        this.#retry = toRetry(this.#message(WireRetry, end, 'task.retry'), this.#found)
        break
      case 82:
        this.#attemptTimeoutMs = this.#duration('task.attempt_timeout', end) ?? DEFAULT_ATTEMPT_TIMEOUT_MS
        break
      case 90:
        this.#startWithinMs = this.#duration('task.start_within', end)
        break
      case 96:
        this.#priority = reader.sint32()
        break
      case 106:
        this.#concurrencyKey = this.#text('task.concurrency_key')
        break
      case 112:
        this.#atMostOnce = reader.bool()
        break
      case 122:
        this.#readLabel(reader.end(end))
        break
      case 130:
        this.#traceparent = this.#text('task.traceparent')
        break
      case 138:
        this.#tracestate = this.#text('task.tracestate')
        break
      case 146:
        this.#origin = originBefore = this.#readable(this.#reader.textAfter(originBefore), 'task.origin')
        break
      case 154:
        this.#rememberIdForMs = this.#duration('task.remember_id_for', end) ?? DEFAULT_REMEMBER_ID_MS
        break
      default:
        this.#unknown.push(`task (field ${tag >>> 3})`)
        reader.skipField(tag)
    }
  }

  #readLabel(end: number): void {
    const reader = this.#reader
    let key = ''
    let value = ''
    while (reader.pos < end) {
      const tag = reader.uint32()
      if (tag === 10) key = this.#text('task.labels')
      else if (tag === 18) value = this.#text('task.labels')
      else reader.skipField(tag)
    }
    reader.expectEnd(end)
    if (key === '__proto__') {
      this.#found.push({ field: 'task.labels', description: "must not have the key '__proto__': rename it" })
      return
    }
    this.#labels ??= {}
    this.#labels[key] = value
  }

  #text(field: string): string {
    return this.#readable(this.#reader.string(), field)
  }

  #readable(text: string, field: string): string {
    if (this.#reader.badText) {
      this.#reader.badText = false
      this.#found.push({ field, description: 'is not valid UTF-8 text' })
    }
    return text
  }

  #duration(field: string, end: number): number | undefined {
    return toMs(this.#message(Duration, end), field, this.#found)
  }

  /** A part that few tasks have, by generated code. `field`: where its unknown fields are noted. */
  #message<T>(decoder: Decoder<T>, end: number, field?: string): T {
    const part = new NotingReader(this.#reader.slice(end))
    const message = decoded(decoder, part)
    if (part.badText)
      this.#found.push({ field: field ?? 'task', description: 'holds text that is not valid UTF-8' })
    if (field) this.#unknown.push(...part.unknown.map((number) => `${field} (field ${number})`))
    return message
  }
}
