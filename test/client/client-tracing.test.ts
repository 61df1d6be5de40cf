import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startClient } from '../support/client-of.js'
import { batchMessage, resultMessage, scheduledMessage } from '../support/messages.js'
import { RpcError } from '../support/rpc-error.js'

const exporter = new InMemorySpanExporter()

beforeEach(() => {
  exporter.reset()
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  )
})

afterEach(() => {
  context.disable()
  propagation.disable()
  trace.disable()
})

describe('a traced schedule()', () => {
  it('is a span in the caller’s trace, which the task carries on; the RPC is a span below it', async () => {
    const { service, client } = await startClient()
    service.answer('schedule', scheduledMessage)
    const order = trace.getTracer('test').startSpan('order')
    await context.with(trace.setSpan(context.active(), order), () => client.schedule('echo', 1, { id: 'a' }))
    order.end()
    const schedule = span('schedule echo')
    const rpc = span('punctual.v1.SchedulerService/Schedule')
    expect(schedule).toMatchObject({
      kind: SpanKind.PRODUCER,
      parentSpanContext: { spanId: order.spanContext().spanId },
      attributes: {
        'messaging.system.name': 'punctual',
        'messaging.operation.name': 'schedule',
        'messaging.destination.name': 'echo',
        'messaging.message.id': 'a',
      },
    })
    expect(rpc).toMatchObject({
      kind: SpanKind.CLIENT,
      parentSpanContext: { spanId: schedule.spanContext().spanId },
      attributes: {
        'rpc.system.name': 'grpc',
        'rpc.method': 'punctual.v1.SchedulerService/Schedule',
        'rpc.status_code': 'OK',
        'server.address': '127.0.0.1',
      },
    })
    const [call] = service.seen
    expect(call?.metadata.get('traceparent')).toEqual([traceparent(rpc)])
    expect(service.requests('schedule')[0]?.task?.traceparent).toBe(traceparent(schedule))
  })

  it('in a batch keeps its own trace; the RPC is linked to each', async () => {
    const { service, client } = await startClient()
    service.answer('scheduleBatch', (request) => batchMessage(request))
    const ids = ['a', 'b']
    await Promise.all(ids.map((id) => client.schedule('echo', 1, { id })))
    const schedules = exporter.getFinishedSpans().filter(({ name }) => name === 'schedule echo')
    const rpc = span('punctual.v1.SchedulerService/ScheduleBatch')
    expect(rpc.parentSpanContext).toBeUndefined()
    expect(rpc.links.map((link) => link.context.spanId)).toEqual(
      schedules.map((schedule) => schedule.spanContext().spanId),
    )
    const [request] = service.requests('scheduleBatch')
    expect(request?.requests.map(({ task }) => task?.traceparent)).toEqual(schedules.map(traceparent))
  })

  it('that fails is marked, and so is its RPC', async () => {
    const { service, client } = await startClient({ retry: false })
    service.answer('schedule', () => {
      throw new RpcError('INVALID_ARGUMENT', 'no', { reason: 'INVALID_TASK' })
    })
    await expect(client.schedule('echo')).rejects.toThrow('no')
    const rpc = span('punctual.v1.SchedulerService/Schedule')
    expect(rpc).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: 'no' },
      attributes: { 'rpc.status_code': 'INVALID_ARGUMENT', 'error.type': 'INVALID_ARGUMENT' },
    })
    expect(span('schedule echo').status.code).toBe(SpanStatusCode.ERROR)
  })
})

describe('a stream', () => {
  it('that its reader leaves ends its span, and is no error', async () => {
    const { service, client } = await startClient()
    const loop = client.results()[Symbol.asyncIterator]()
    const first = loop.next()
    const stream = await service.stream()
    stream.send({ results: [resultMessage('a')], cursor: 'c1' })
    await first
    await loop.return?.()
    await stream.left
    const rpc = span('punctual.v1.SchedulerService/StreamResults')
    expect(rpc).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      attributes: { 'rpc.status_code': 'CANCELLED' },
    })
  })
})

function span(name: string): ReadableSpan {
  const found = exporter.getFinishedSpans().find((each) => each.name === name)
  if (found === undefined) throw new Error(`no span ${name}`)
  return found
}

function traceparent(of: ReadableSpan): string {
  const { traceId, spanId } = of.spanContext()
  return `00-${traceId}-${spanId}-01`
}
