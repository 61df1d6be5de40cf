import { type Context, ROOT_CONTEXT, type Span, SpanKind, trace } from '@opentelemetry/api'
import { parseTraceParent, TraceState } from '@opentelemetry/core'
import type { AttemptEnd, AttemptRequest, Executor, ExecutorEvents, Lane } from '../executor/executor.js'
import type { AttemptNote, SpanRecord } from '../task/span-record.js'
import { addNote, attemptAttributes, describeEnd } from './attempt-attributes.js'
import { saysSampled } from './traceparent.js'
import type { PlannedSpan, Tracing } from './tracing.js'

/** A sampled attempt under way. */
interface TracedAttempt {
  readonly request: AttemptRequest
  readonly lane: Lane
  readonly planned: PlannedSpan
  /** What its handler added. A short attempt may be told of as begun only when it has ended. */
  readonly notes: AttemptNote[]
  /** Since the handler began. */
  span?: Span
}

/**
 * An executor whose attempts are traced. The first attempt of a task's first run continues the caller's trace, after a span for the wait; a retry or a
 * later run is a trace of its own, linked to it. Whether an attempt is sampled is decided before anything is made, so one that is not costs next to nothing.
 */
export class TracedExecutor implements Executor {
  readonly #inner: Executor
  readonly #tracing: Tracing
  readonly #attempts = new Map<number, TracedAttempt>()

  constructor(inner: Executor, tracing: Tracing) {
    this.#inner = inner
    this.#tracing = tracing
  }

  get slots(): Executor['slots'] {
    return this.#inner.slots
  }

  listen(events: ExecutorEvents): void {
    this.#inner.listen({
      began: (starts) => {
        if (this.#attempts.size > 0)
          for (const start of starts) this.#began(start.startId, start.startTimeUs, start.workerId)
        events.began(starts)
      },
      ended: (ends) => events.ended(this.#attempts.size === 0 ? ends : ends.map((end) => this.#ended(end))),
      returned: (startIds) => {
        for (const startId of startIds) this.#attempts.delete(startId)
        events.returned(startIds)
      },
      released: (startIds) => events.released(startIds),
      spans: (records) => {
        for (const record of records) this.#record(record)
        events.spans?.(records)
      },
    })
  }

  start(lane: Lane, burst: readonly AttemptRequest[]): void {
    // copied once, and only when something in it changes
    let given: AttemptRequest[] | undefined
    for (const [index, request] of burst.entries()) {
      const decided = this.#decide(lane, request)
      if (decided !== request) (given ??= [...burst])[index] = decided
    }
    this.#inner.start(lane, given ?? burst)
  }

  stop(startId: number, graceMs: number): boolean {
    return this.#inner.stop(startId, graceMs)
  }

  async close(): Promise<void> {
    await this.#inner.close()
    // Whatever the executor did not tell an end of is over now.
    for (const { span } of this.#attempts.values()) span?.end()
    this.#attempts.clear()
  }

  #decide(lane: Lane, request: AttemptRequest): AttemptRequest {
    const planned = this.#plan(request)
    if (planned === undefined)
      return saysSampled(request.traceparent) ? { ...request, traceparent: '', tracestate: '' } : request
    this.#attempts.set(request.startId, { request, lane, planned, notes: [] })
    const { traceId, spanId, traceState } = planned.context
    return {
      ...request,
      traceparent: `00-${traceId}-${spanId}-01`,
      tracestate: traceState?.serialize() ?? '',
    }
  }

  #plan(request: AttemptRequest): PlannedSpan | undefined {
    const name = `run ${request.handler}`
    const isFirst = request.run === 1 && request.attempt === 1
    if (!isFirst)
      return this.#tracing.plan(name, SpanKind.CONSUMER, ROOT_CONTEXT, () => linksTo(contextOf(request)))
    if (this.#tracing.rulesOut(request.traceparent)) return undefined
    return this.#tracing.plan(name, SpanKind.CONSUMER, contextOf(request))
  }

  #began(startId: number, startTimeUs: number, workerId: string): void {
    const attempt = this.#attempts.get(startId)
    if (attempt === undefined) return
    this.#recordWait(attempt, startTimeUs)
    const { request, lane, planned } = attempt
    attempt.span = this.#tracing.start(
      planned,
      startTimeUs,
      attemptAttributes(request, lane, startTimeUs, workerId),
    )
  }

  /** Only the first wait has a place of its own: in the trace of the caller, between its call and the attempt. Later waits are attributes. */
  #recordWait({ request, planned }: TracedAttempt, endTimeUs: number): void {
    if (planned.parent === ROOT_CONTEXT) return
    const times = { startTimeUs: request.createTime * 1_000, endTimeUs }
    this.#tracing.record(`wait ${request.handler}`, planned.parent, times, {
      'punctual.task.id': request.taskId,
      'punctual.due_time': new Date(request.dueTime).toISOString(),
    })
  }

  #ended(end: AttemptEnd): AttemptEnd {
    const attempt = this.#attempts.get(end.startId)
    if (attempt === undefined) return end
    this.#attempts.delete(end.startId)
    const { span, notes } = attempt
    if (span === undefined) this.#recordWait(attempt, end.endTimeUs)
    else {
      for (const note of notes) addNote(span, note)
      describeEnd(span, end)
    }
    return { ...end, traceId: attempt.planned.context.traceId }
  }

  #record(record: SpanRecord): void {
    if (record.kind === 'span') this.#tracing.replay(record)
    else this.#attempts.get(record.startId)?.notes.push(record)
  }
}

/** The caller's context as the task kept it; a broken one counts as none. */
function contextOf({ traceparent, tracestate }: AttemptRequest): Context {
  const caller = traceparent === '' ? null : parseTraceParent(traceparent)
  if (caller === null) return ROOT_CONTEXT
  if (tracestate !== '') caller.traceState = new TraceState(tracestate)
  return trace.setSpanContext(ROOT_CONTEXT, { ...caller, isRemote: true })
}

function linksTo(caller: Context): { context: NonNullable<ReturnType<typeof trace.getSpanContext>> }[] {
  const context = trace.getSpanContext(caller)
  return context === undefined ? [] : [{ context }]
}
