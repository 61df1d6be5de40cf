import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import { beforeEach, describe, expect, it } from 'vitest'
import { instrument } from '../../server/telemetry/thread-spans.js'
import type { HandlerSpan, SpanRecord } from '../../server/task/span-record.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const ATTEMPT = 'b7ad6b7169203331'
const sampled = { startId: 7, traceparent: `00-${TRACE}-${ATTEMPT}-01`, tracestate: 'vendor=1' }

const records: SpanRecord[] = []
const spans = instrument((batch) => records.push(...batch))
const tracer = trace.getTracer('handlers', '1.0.0')

beforeEach(() => records.splice(0))

describe('a handler in a traced thread', () => {
  it('makes spans that are children of its attempt, across awaits', async () => {
    await spans.around(sampled, async () => {
      await Promise.resolve()
      await tracer.startActiveSpan('outer', async (outer) => {
        await Promise.resolve()
        tracer.startSpan('inner').end()
        outer.end()
      })
    })
    const [inner, outer] = records as HandlerSpan[]
    expect(records).toHaveLength(2)
    expect(inner).toMatchObject({ name: 'inner', parent: { spanId: outer?.context.spanId } })
    expect(outer).toMatchObject({
      name: 'outer',
      context: { traceId: TRACE, traceFlags: 1, traceState: 'vendor=1' },
      parent: { traceId: TRACE, spanId: ATTEMPT },
      scope: { name: 'handlers', version: '1.0.0' },
    })
  })

  it('tells of each span when it ends, so that a thread which is terminated loses none', () => {
    spans.around(sampled, () => {
      tracer.startSpan('first').end()
      expect(records).toHaveLength(1)
    })
  })

  it('tells only what can cross a thread', () => {
    spans.around(sampled, () => {
      const links = [{ context: { traceId: TRACE, spanId: ATTEMPT, traceFlags: 1 }, attributes: { n: 1 } }]
      const span = tracer.startSpan('rich', { attributes: { list: ['a', 'b'] }, links })
      span.addEvent('half way', { page: 2 })
      span.recordException(new RangeError('too far'))
      span.setStatus({ code: SpanStatusCode.ERROR, message: 'no' }).end()
    })
    expect(structuredClone(records)).toEqual(records)
    expect(records).toMatchObject([
      {
        attributes: { list: ['a', 'b'] },
        events: [{ name: 'half way', attributes: { page: 2 } }, { name: 'exception' }],
        links: [{ context: { traceId: TRACE, traceState: '' }, attributes: { n: 1 } }],
        status: { code: 2, message: 'no' },
      },
    ])
  })

  it('adds to the span of its attempt, and the note is told before the attempt is over', async () => {
    await spans
      .around(sampled, async () => {
        trace.getActiveSpan()?.setAttribute('pages', 3).setAttributes({ size: 'A4' })
        await Promise.resolve()
        trace.getActiveSpan()?.addEvent('half way', { page: 2 }).recordException(new RangeError('too far'))
        trace.getActiveSpan()?.setStatus({ code: SpanStatusCode.ERROR, message: 'no' })
      })
      .then(() => expect(records).toHaveLength(1))
    expect(records).toMatchObject([
      {
        kind: 'note',
        startId: 7,
        attributes: { pages: 3, size: 'A4' },
        events: [
          { name: 'half way', attributes: { page: 2 } },
          {
            name: 'exception',
            attributes: { 'exception.type': 'RangeError', 'exception.message': 'too far' },
          },
        ],
        status: { code: 2, message: 'no' },
      },
    ])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('leaves its note also when it %s', async (_, fail) => {
    const attempt = async (): Promise<unknown> =>
      spans.around(sampled, () => {
        trace.getActiveSpan()?.setAttribute('pages', 3)
        return fail()
      })
    await expect(attempt()).rejects.toThrow('broken')
    expect(records).toMatchObject([{ kind: 'note', attributes: { pages: 3 } }])
  })

  it('says nothing of an attempt to which it added nothing', async () => {
    expect(await spans.around(sampled, () => Promise.resolve(21))).toBe(21)
    expect(records).toEqual([])
  })

  it('cannot end the span of its attempt, nor change it when the attempt is over', async () => {
    const span = await spans.around(sampled, () => {
      trace.getActiveSpan()?.end()
      trace.getActiveSpan()?.setAttribute('after', 'end')
      return Promise.resolve(trace.getActiveSpan())
    })
    expect(records).toMatchObject([{ attributes: { after: 'end' } }])
    expect(span?.isRecording()).toBe(false)
    span?.setAttribute('too', 'late')
    expect(records).toMatchObject([{ attributes: { after: 'end' } }])
  })

  it('keeps attempts apart that run at once', async () => {
    const other = { startId: 8, traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`, tracestate: '' }
    const work = async (name: string): Promise<void> => {
      await Promise.resolve()
      tracer.startSpan(name).end()
    }
    await Promise.all([spans.around(sampled, () => work('one')), spans.around(other, () => work('two'))])
    expect(records).toMatchObject([
      { name: 'one', context: { traceId: TRACE } },
      { name: 'two', context: { traceId: '1'.repeat(32) } },
    ])
  })
})

describe('an attempt that is not sampled', () => {
  it.each([
    ['not traced', ''],
    ['not sampled', `00-${TRACE}-${ATTEMPT}-00`],
    ['broken', 'nonsense'],
  ])('runs without a span, and its spans are not recorded: %s', (_, traceparent) => {
    const result = spans.around({ startId: 1, traceparent, tracestate: '' }, () => {
      tracer.startSpan('lost').end()
      return trace.getSpan(context.active())
    })
    expect(result).toBeUndefined()
    expect(records).toEqual([])
  })
})
