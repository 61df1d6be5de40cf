import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { credentials, Metadata } from '@grpc/grpc-js'
import { createClient } from 'punctual'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  ScheduleRequest,
  SchedulerServiceClient,
  StreamResultsRequest,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { type ReceivedSpan, startReceiver } from './otlp-receiver.js'
import { ServerProcess } from './server-process.js'

const HANDLERS = fileURLToPath(new URL('./telemetry/report-handlers.mjs', import.meta.url))
const SCHEDULE = 'punctual.v1.SchedulerService/Schedule'
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const PATIENCE = { timeout: 30_000, interval: 50 }

let receiver: Awaited<ReturnType<typeof startReceiver>>
let env: Record<string, string>

beforeAll(async () => {
  receiver = await startReceiver()
  env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, OTEL_BSP_SCHEDULE_DELAY: '100' }
})
afterAll(() => receiver.close())

describe('one trace', () => {
  it('leads from the caller through Schedule, the wait and the attempt to the handler’s own span, across a kill of the server (C142)', async () => {
    await using server = await ServerProcess.start(['--handlers', HANDLERS], env)
    await schedule(server, { id: 'across-a-kill', handler: 'report', delayS: 4n })
    const call = await spanOf(TRACE, SCHEDULE)
    await server.stop('SIGKILL')
    await server.start()
    const rendering = await spanOf(TRACE, 'render pages')
    const attempt = await spanOf(TRACE, 'run report')
    const wait = await spanOf(TRACE, 'wait report')
    expect(call.parentSpanId).toBe(CALLER)
    expect(wait.parentSpanId).toBe(call.spanId)
    expect(attempt.parentSpanId).toBe(call.spanId)
    expect(rendering.parentSpanId).toBe(attempt.spanId)
    expect((await spanOf(TRACE, 'insert tasks')).parentSpanId).toBe(call.spanId)
    // a SERVER span, a CONSUMER span; the wait begins with the acceptance and ends when the handler starts
    expect([call.kind, attempt.kind]).toEqual([2, 5])
    expect(wait.endTimeNs).toBe(attempt.startTimeNs)
    expect(Number(wait.endTimeNs - wait.startTimeNs) / 1e9).toBeGreaterThanOrEqual(3.9)
    expect(attempt.attributes).toMatchObject({
      'punctual.task.id': 'across-a-kill',
      'punctual.attempt': 1,
      'punctual.outcome': 'succeeded',
      pages: 3,
    })
    expect(await server.stop('SIGTERM')).toBe(0)
  })

  it('holds what the client of this package traces too', async () => {
    const exporter = traceHere()
    await using server = await ServerProcess.start(['--handlers', HANDLERS], env)
    await using client = createClient({ address: server.address })
    const orders = trace.getTracer('orders').startSpan('POST /orders')
    await context.with(trace.setSpan(context.active(), orders), async () => {
      const task = await client.schedule('report', {})
      await task.result()
    })
    orders.end()
    const { traceId, spanId } = orders.spanContext()
    const rendering = await spanOf(traceId, 'render pages')
    const attempt = await spanOf(traceId, 'run report')
    const scheduled = exporter.getFinishedSpans().find((span) => span.name === 'schedule report')
    expect(scheduled?.parentSpanContext?.spanId).toBe(spanId)
    expect(attempt.parentSpanId).toBe(scheduled?.spanContext().spanId)
    expect(rendering.parentSpanId).toBe(attempt.spanId)
    expect(await server.stop('SIGTERM')).toBe(0)
    trace.disable()
  })
})

describe('a retry', () => {
  it('is a trace of its own, linked to the call, and the result names it', async () => {
    await using server = await ServerProcess.start(['--handlers', HANDLERS], env)
    await using client = createClient({ address: server.address })
    await schedule(server, { id: 'retried', handler: 'fails-once', maxAttempts: 2 })
    const result = await client.task('retried').result()
    const failed = await spanOf(TRACE, 'run fails-once')
    expect(failed).toMatchObject({ status: 2, events: ['exception'] })
    expect(failed.attributes).toMatchObject({ 'error.type': 'PRINTER_OFFLINE' })
    const retry = await spanOf(result.traceId, 'run fails-once')
    expect(result.traceId).not.toBe(TRACE)
    expect(retry).toMatchObject({ parentSpanId: '', status: 0 })
    expect(retry.attributes).toMatchObject({ 'punctual.attempt': 2 })
    const calls = receiver.spans.filter((span) => span.traceId === TRACE && span.name === SCHEDULE)
    expect(calls.map((call) => call.spanId)).toContain(retry.links[0]?.spanId)
    // logs of the handler name the trace of their attempt
    expect(server.log).toMatch(new RegExp(`"trace_id":"${result.traceId}".*"trying"`))
    expect(await server.stop('SIGTERM')).toBe(0)
  })
})

describe('a stream that its client cancels', () => {
  it('ends its span', async () => {
    await using server = await ServerProcess.start([], env)
    const client = new SchedulerServiceClient(server.address, credentials.createInsecure())
    const metadata = new Metadata()
    const traceId = '3'.repeat(32)
    metadata.set('traceparent', `00-${traceId}-${CALLER}-01`)
    const stream = client.streamResults(StreamResultsRequest.fromPartial({}), metadata)
    await new Promise((resolve, reject) => stream.once('data', resolve).on('error', reject))
    stream.cancel()
    const span = await spanOf(traceId, 'punctual.v1.SchedulerService/StreamResults')
    expect(span.attributes).toMatchObject({ 'rpc.status_code': 'CANCELLED' })
    client.close()
  })
})

describe('what callers confide', () => {
  it('appears in no log and no span, at the level of debugging either (C147)', async () => {
    const args = ['--handlers', HANDLERS, '--log-level', 'debug']
    await using server = await ServerProcess.start(args, { ...env, OTEL_LOG_LEVEL: 'debug' })
    const traceId = '4'.repeat(32)
    const secret = 'S3CRET-XYZ'
    for (const handler of ['report', 'fails-once', 'no-such-handler']) {
      const metadata = { authorization: `Bearer ${secret}`, traceparent: `00-${traceId}-${CALLER}-01` }
      const payload = `{"password":"${secret}"}`
      await schedule(server, { id: `secret-${handler}`, handler, payload, metadata }).catch(() => {})
    }
    await spanOf(traceId, 'run fails-once')
    expect(await server.stop('SIGTERM')).toBe(0)
    expect(server.log).toContain('"level":"debug"')
    // the SDK speaks at debug too, with its own objects
    expect(server.log).toContain('items to be sent')
    expect(server.log).not.toContain(secret)
    const spans = inspect(receiver.spans, { depth: 10, maxArrayLength: null })
    expect(spans).toContain('secret-report')
    expect(spans).not.toContain(secret)
  })
})

interface Wish {
  readonly id: string
  readonly handler: string
  readonly delayS?: bigint
  readonly maxAttempts?: number
  readonly payload?: string
  readonly metadata?: Readonly<Record<string, string>>
}

/** Schedules as a caller in any language does: with a traceparent in the metadata of its call. */
function schedule(server: ServerProcess, wish: Wish): Promise<void> {
  const { id, handler, delayS = 0n, maxAttempts = 1, payload = '{}' } = wish
  const metadata = new Metadata()
  const sent = { traceparent: `00-${TRACE}-${CALLER}-01`, ...wish.metadata }
  for (const [key, value] of Object.entries(sent)) metadata.set(key, value)
  const request = ScheduleRequest.fromPartial({
    task: {
      id,
      handler,
      payload: { $case: 'inputJson', value: payload },
      when: { $case: 'delay', value: { seconds: delayS, nanos: 0 } },
      retry: { maxAttempts, initialBackoff: { seconds: 0n, nanos: 1_000_000 } },
    },
  })
  const client = new SchedulerServiceClient(server.address, credentials.createInsecure())
  return new Promise((resolve, reject) => {
    client.schedule(request, metadata, (error) => {
      client.close()
      if (error) reject(error)
      else resolve()
    })
  })
}

/** The newest span of that name in a trace, once it has arrived. */
function spanOf(traceId: string, name: string): Promise<ReceivedSpan> {
  return vi.waitFor(() => {
    const span = receiver.spans.findLast((received) => received.traceId === traceId && received.name === name)
    if (span === undefined) throw new Error(`no span '${name}' has arrived for trace ${traceId}`)
    return span
  }, PATIENCE)
}

/** Traces in this process, as a caller's own would. */
function traceHere(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter()
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  )
  return exporter
}
