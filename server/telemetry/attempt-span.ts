import {
  type Attributes,
  type AttributeValue,
  type Exception,
  type HrTime,
  type Link,
  type Span,
  type SpanContext,
  SpanStatusCode,
  type SpanStatus,
  type TimeInput,
} from '@opentelemetry/api'
import { hrTime, isTimeInput, timeInputToHrTime } from '@opentelemetry/core'
import type { AttemptNote, SpanEventRecord, SpanLinkRecord } from '../task/span-record.js'
import { spanContextRecord } from './span-context-record.js'

/**
 * The span of an attempt as its handler sees it. The main thread keeps the real one, so that it ends even when the thread is terminated; what the
 * handler adds here is noted and sent to it.
 */
export class AttemptSpan implements Span {
  readonly #context: SpanContext
  #attributes: Record<string, AttributeValue> = {}
  #events: SpanEventRecord[] = []
  #links: SpanLinkRecord[] = []
  #status: SpanStatus = { code: SpanStatusCode.UNSET }
  #changed = false
  #ended = false

  constructor(context: SpanContext) {
    this.#context = context
  }

  /** What was added, once; undefined = nothing. Whatever comes later is lost, since the attempt is over. */
  takeNote(startId: number): AttemptNote | undefined {
    this.#ended = true
    if (!this.#changed) return undefined
    return {
      kind: 'note',
      startId,
      attributes: this.#attributes,
      events: this.#events,
      links: this.#links,
      status: { code: this.#status.code, message: this.#status.message ?? '' },
    }
  }

  spanContext(): SpanContext {
    return this.#context
  }

  isRecording(): boolean {
    return !this.#ended
  }

  setAttribute(key: string, value: AttributeValue): this {
    return this.#change(() => (this.#attributes[key] = value))
  }

  setAttributes(attributes: Attributes): this {
    return this.#change(() => Object.assign(this.#attributes, attributes))
  }

  addEvent(name: string, attributesOrTime?: Attributes | TimeInput, time?: TimeInput): this {
    const given = isTimeInput(attributesOrTime)
      ? { attributes: {}, at: attributesOrTime }
      : { attributes: attributesOrTime ?? {}, at: time }
    return this.#change(() =>
      this.#events.push({ name, time: toHrTime(given.at), attributes: given.attributes }),
    )
  }

  addLink(link: Link): this {
    const attributes = link.attributes ?? {}
    return this.#change(() => this.#links.push({ context: spanContextRecord(link.context), attributes }))
  }

  addLinks(links: Link[]): this {
    for (const link of links) this.addLink(link)
    return this
  }

  setStatus(status: SpanStatus): this {
    return this.#change(() => (this.#status = { ...status }))
  }

  recordException(exception: Exception, time?: TimeInput): void {
    const it = typeof exception === 'string' ? { message: exception } : exception
    const type = it.code === undefined ? it.name : String(it.code)
    const attributes: Attributes = {}
    if (type !== undefined) attributes['exception.type'] = type
    if (it.message !== undefined) attributes['exception.message'] = it.message
    if (it.stack !== undefined) attributes['exception.stacktrace'] = it.stack
    this.addEvent('exception', attributes, time)
  }

  /** The name says which handler runs: it stays. */
  updateName(): this {
    return this
  }

  /** The attempt ends when its handler does, not before. */
  end(): void {}

  #change(apply: () => unknown): this {
    if (this.#ended) return this
    this.#changed = true
    apply()
    return this
  }
}

function toHrTime(time: TimeInput | undefined): HrTime {
  return time === undefined ? hrTime() : timeInputToHrTime(time)
}
