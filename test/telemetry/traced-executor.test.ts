import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import type { AttemptEnd, AttemptRequest } from '../../server/executor/executor.js'
import type { AttemptOutcome } from '../../server/task/outcome.js'
import type { HandlerSpan } from '../../server/task/span-record.js'
import type { SamplerSetting } from '../../server/telemetry/telemetry-settings.js'
import { TracedExecutor } from '../../server/telemetry/traced-executor.js'
import { attemptEnd, attemptRequest, DUE, FakeExecutor } from './fake-executor.js'
import { recordedTracing } from './recorded-tracing.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALL = 'b7ad6b7169203331'
const SAMPLED = `00-${TRACE}-${CALL}-01`
const UNSAMPLED = `00-${TRACE}-${CALL}-00`

describe('the first attempt of a task', () => {
  it('continues the trace of the call that scheduled it, after a span for the wait', () => {
    const { run, span, spans } = tracedExecutor()
    run({ traceparent: SAMPLED, tracestate: 'vendor=1' })
    const [wait, attempt] = [span('wait fibonacci'), span('run fibonacci')]
    expect(spans()).toHaveLength(2)
    for (const made of [wait, attempt]) {
      expect(made.spanContext().traceId).toBe(TRACE)
      expect(made.parentSpanContext?.spanId).toBe(CALL)
      expect(made.links).toEqual([])
    }
    expect(attempt.spanContext().traceState?.serialize()).toBe('vendor=1')
  })

  it('waits from its acceptance to its start, and runs from its start to its end, to the microsecond', () => {
    const { run, span } = tracedExecutor()
    run({ traceparent: SAMPLED })
    expect(span('wait').startTime).toEqual([DUE / 1_000 - 5, 0])
    expect(span('wait').endTime).toEqual([DUE / 1_000, 1_500_000])
    expect(span('run').startTime).toEqual([DUE / 1_000, 1_500_000])
    expect(span('run').endTime).toEqual([DUE / 1_000, 21_500_000])
  })

  it('tells the thread the id that its span will have, so that the handler can join', () => {
    const { run, span, inner } = tracedExecutor()
    run({ traceparent: SAMPLED, tracestate: 'vendor=1' })
    expect(inner.request.traceparent).toBe(`00-${TRACE}-${span('run').spanContext().spanId}-01`)
    expect(inner.request.tracestate).toBe('vendor=1')
  })

  it('is a root without a wait when no trace came with the task', () => {
    const { run, spans } = tracedExecutor()
    run({ traceparent: '' })
    expect(spans().map((span) => [span.name, span.parentSpanContext])).toEqual([['run fibonacci', undefined]])
  })

  it.each([
    ['nonsense', 'nonsense'],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${CALL}-01`],
    ['a span id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a forbidden version', `ff-${TRACE}-${CALL}-01`],
    ['a cut one', `00-${TRACE}-${CALL}`],
  ])('is a root when the trace that came with it is broken: %s', (_, traceparent) => {
    const { run, span } = tracedExecutor()
    run({ traceparent })
    expect(span('run').parentSpanContext).toBeUndefined()
  })

  it('says which task, run and attempt it is, and nothing that the task carries', () => {
    const { run, span, spans } = tracedExecutor()
    run({
      traceparent: SAMPLED,
      payload: { kind: 'json', text: '{"password":"S3CRET"}' },
      labels: { tenant: 'S3CRET' },
    })
    expect(span('run').kind).toBe(SpanKind.CONSUMER)
    expect(span('run').attributes).toEqual({
      'messaging.system.name': 'punctual',
      'messaging.operation.name': 'run',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'fibonacci',
      'messaging.message.id': 'task-1',
      'punctual.task.id': 'task-1',
      'punctual.run': 1,
      'punctual.attempt': 1,
      'punctual.lane': 'thread',
      'punctual.due_time': '2030-01-01T00:00:00.000Z',
      'punctual.wait_ms': 1.5,
      'punctual.outcome': 'succeeded',
      'thread.name': 'thread-1',
    })
    for (const { attributes, events } of spans())
      expect(JSON.stringify([attributes, events])).not.toContain('S3CRET')
  })
})

describe('a retry or a later run', () => {
  it.each([
    ['retry', { attempt: 2 }],
    ['later run', { run: 2 }],
  ])('%s: a trace of its own, with a link to the caller', (_, which) => {
    const { run, span, spans, ended } = tracedExecutor()
    run({ traceparent: SAMPLED, ...which })
    expect(spans()).toHaveLength(1)
    const attempt = span('run')
    expect(attempt.parentSpanContext).toBeUndefined()
    expect(attempt.spanContext().traceId).not.toBe(TRACE)
    expect(attempt.links.map(({ context }) => [context.traceId, context.spanId])).toEqual([[TRACE, CALL]])
    expect(ended()[0]?.traceId).toBe(attempt.spanContext().traceId)
  })
})

describe('an attempt that is not sampled', () => {
  it.each<[string, SamplerSetting['name'], Partial<AttemptRequest>]>([
    ['because its caller is not', 'parentbased_always_on', { traceparent: UNSAMPLED }],
    [
      'because its caller is not, whatever new roots are',
      'parentbased_traceidratio',
      { traceparent: UNSAMPLED },
    ],
    ['because nothing is', 'always_off', { traceparent: SAMPLED }],
    ['because new roots are not', 'parentbased_always_off', { traceparent: SAMPLED, run: 2 }],
    ['because the ratio leaves it out', 'traceidratio', { traceparent: SAMPLED }],
  ])('makes no span and costs its thread nothing: %s', (_, sampler, request) => {
    const { run, spans, inner, ended } = tracedExecutor(sampler, 0)
    run(request)
    expect(spans()).toEqual([])
    expect(inner.request.traceparent).not.toMatch(/1$/)
    expect(ended()).toEqual([attemptEnd()])
  })

  it('goes through untouched when it had no trace', () => {
    const { executor, inner } = tracedExecutor('always_off')
    const request = attemptRequest()
    executor.start('thread', [request])
    expect(inner.request).toBe(request)
  })
})

describe('the end of an attempt', () => {
  const error = {
    code: 'CARD_DECLINED',
    message: 'declined',
    stack: 'at pay',
    name: 'PaymentError',
    cause: '',
  }

  it.each<[AttemptOutcome, string]>([
    [{ kind: 'failed', error, retryable: true }, 'CARD_DECLINED'],
    [{ kind: 'timedOut', stage: 'terminated' }, 'TIMED_OUT'],
    [{ kind: 'interrupted', reason: 'the server stops' }, 'INTERRUPTED'],
  ])('is an error of its type: $kind', (outcome, type) => {
    const { run, span } = tracedExecutor()
    run({}, { outcome })
    expect(span('run').status.code).toBe(SpanStatusCode.ERROR)
    expect(span('run').attributes).toMatchObject({ 'error.type': type, 'punctual.outcome': outcome.kind })
  })

  it('shows what was thrown', () => {
    const { run, span } = tracedExecutor()
    run({}, { outcome: { kind: 'failed', error, retryable: true } })
    const [event] = span('run').events
    expect(event?.name).toBe('exception')
    expect(event?.attributes).toEqual({
      'exception.type': 'PaymentError',
      'exception.message': 'declined',
      'exception.stacktrace': 'at pay',
    })
  })

  it('is no error when the task was cancelled: that was asked for', () => {
    const { run, span } = tracedExecutor()
    run({}, { outcome: { kind: 'cancelled', stage: 'cooperative' } })
    expect(span('run').status.code).toBe(SpanStatusCode.UNSET)
    expect(span('run').attributes).toMatchObject({ 'punctual.stop_stage': 'cooperative' })
  })

  it('leaves only the wait when it never began', () => {
    const { executor, inner, spans, ended } = tracedExecutor()
    executor.start('thread', [attemptRequest({ traceparent: SAMPLED })])
    inner.tell.ended([attemptEnd({ outcome: { kind: 'cancelled', stage: 'neverStarted' } })])
    expect(spans().map((span) => span.name)).toEqual(['wait fibonacci'])
    expect(ended()).toHaveLength(1)
  })

  it('comes for every attempt when the executor closes', async () => {
    const { executor, inner, span } = tracedExecutor()
    executor.start('thread', [attemptRequest()])
    inner.tell.began([attemptEnd()])
    await executor.close()
    expect(span('run').ended).toBe(true)
    expect(inner.closed).toBe(true)
  })

  it('does not come for one that goes back because its thread died before it began', () => {
    const { executor, inner, spans, returned } = tracedExecutor()
    executor.start('thread', [attemptRequest({ traceparent: SAMPLED })])
    inner.tell.returned([1])
    inner.tell.ended([attemptEnd()])
    expect(spans()).toEqual([])
    expect(returned()).toEqual([1])
  })
})

describe('what a handler traces in its thread', () => {
  it('becomes a span of this process, under the ids that it has', () => {
    const { executor, inner, span } = tracedExecutor()
    executor.start('thread', [attemptRequest({ traceparent: SAMPLED })])
    inner.tell.began([attemptEnd()])
    inner.tell.spans?.([handlerSpan(inner.request.traceparent.slice(36, 52))])
    inner.tell.ended([attemptEnd()])
    const made = span('query')
    expect(made.spanContext()).toMatchObject({ traceId: TRACE, spanId: '00f067aa0ba902b7' })
    expect(made.parentSpanContext?.spanId).toBe(span('run').spanContext().spanId)
    expect(made).toMatchObject({
      kind: SpanKind.CLIENT,
      startTime: [1_893_456_000, 2_000_000],
      endTime: [1_893_456_000, 3_000_000],
      attributes: { rows: 3 },
      status: { code: SpanStatusCode.ERROR, message: 'slow' },
      instrumentationScope: { name: 'pg', version: '8.0.0' },
    })
    expect(made.events).toMatchObject([{ name: 'cache miss', attributes: { key: 'k' } }])
    expect(made.links).toMatchObject([{ context: { traceId: TRACE, spanId: CALL } }])
  })

  it('is added to the attempt where the handler spoke to that', () => {
    const { executor, inner, span } = tracedExecutor()
    executor.start('thread', [attemptRequest()])
    const event = { name: 'half way', time: [1_893_456_000, 4_000_000], attributes: {} } as const
    const status = { code: 1, message: '' } as const
    inner.tell.spans?.([
      { kind: 'note', startId: 1, attributes: { pages: 3 }, events: [event], links: [], status },
    ])
    // short attempts are told of as begun when they have ended
    inner.tell.began([attemptEnd()])
    inner.tell.ended([attemptEnd({ outcome: { kind: 'timedOut', stage: 'cooperative' } })])
    expect(span('run').attributes).toMatchObject({ pages: 3, 'punctual.run': 1 })
    expect(span('run').events).toMatchObject([{ name: 'half way', time: [1_893_456_000, 4_000_000] }])
    // "ok" was too early to say
    expect(span('run').status.code).toBe(SpanStatusCode.ERROR)
  })
})

it('hands on what is not its business', () => {
  const { executor, inner, released } = tracedExecutor()
  expect(executor.slots).toBe(inner.slots)
  expect(executor.stop(7, 250)).toBe(true)
  expect(inner.stopped).toEqual([[7, 250]])
  inner.tell.released([9])
  expect(released()).toEqual([9])
})

function tracedExecutor(sampler?: SamplerSetting['name'], ratio?: number) {
  const inner = new FakeExecutor()
  const { tracing, ...recorded } = recordedTracing(sampler, ratio)
  const executor = new TracedExecutor(inner, tracing)
  const told = { ended: [] as AttemptEnd[], returned: [] as number[], released: [] as number[] }
  executor.listen({
    began() {},
    ended: (ends) => told.ended.push(...ends),
    returned: (ids) => told.returned.push(...ids),
    released: (ids) => told.released.push(...ids),
  })
  const run = (request: Partial<AttemptRequest>, end: Partial<AttemptEnd> = {}): void => {
    executor.start('thread', [attemptRequest(request)])
    inner.tell.began([attemptEnd(end)])
    inner.tell.ended([attemptEnd(end)])
  }
  const { ended, returned, released } = told
  return {
    ...recorded,
    executor,
    inner,
    run,
    ended: () => ended,
    returned: () => returned,
    released: () => released,
  }
}

function handlerSpan(parentSpanId: string): HandlerSpan {
  const context = { traceId: TRACE, traceFlags: 1, traceState: '' }
  return {
    kind: 'span',
    context: { ...context, spanId: '00f067aa0ba902b7' },
    parent: { ...context, spanId: parentSpanId },
    name: 'query',
    spanKind: 2,
    startTime: [1_893_456_000, 2_000_000],
    endTime: [1_893_456_000, 3_000_000],
    attributes: { rows: 3 },
    events: [{ name: 'cache miss', time: [1_893_456_000, 2_500_000], attributes: { key: 'k' } }],
    links: [{ context: { ...context, spanId: CALL }, attributes: {} }],
    status: { code: 2, message: 'slow' },
    scope: { name: 'pg', version: '8.0.0' },
  }
}
