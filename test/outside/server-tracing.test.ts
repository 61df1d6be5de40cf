import {
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  status,
  type UntypedServiceImplementation,
  makeGenericClientConstructor,
} from '@grpc/grpc-js'
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from '../../server/clock.js'
import { callTrace } from '../../server/rpc/call-trace.js'
import type { CallTrace } from '../../server/rpc/read-schedule.js'
import { serverTracing } from '../../server/rpc/server-tracing.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const SERVICE = 'punctual.v1.SchedulerService'

const exporter = new InMemorySpanExporter()
let call: Awaited<ReturnType<typeof startServer>>
let seen: CallTrace | undefined

beforeAll(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  propagation.setGlobalPropagator(new W3CTraceContextPropagator())
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  )
  call = await startServer()
})
afterAll(() => call.close())
beforeEach(() => exporter.reset())

describe('a call', () => {
  it('has a span that is a child of its caller’s, by the conventions for RPC; a good one is OK (C065)', async () => {
    await call.unary('Ok', { traceparent: `00-${TRACE}-${CALLER}-01` })
    const span = await onlySpan()
    expect(span.name).toBe(`${SERVICE}/Ok`)
    expect(span.kind).toBe(SpanKind.SERVER)
    expect(span.spanContext().traceId).toBe(TRACE)
    expect(span.parentSpanContext?.spanId).toBe(CALLER)
    expect(span.attributes).toMatchObject({
      'rpc.system.name': 'grpc',
      'rpc.method': `${SERVICE}/Ok`,
      'rpc.status_code': 'OK',
      'network.peer.address': '127.0.0.1',
    })
  })

  it('gives its tasks its own span as their trace, after an await too', async () => {
    await call.unary('Ok', { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'vendor=1' })
    const { spanId } = (await onlySpan()).spanContext()
    expect(seen).toEqual({ traceparent: `00-${TRACE}-${spanId}-01`, tracestate: 'vendor=1' })
  })

  it('keeps what its caller decided: not sampled', async () => {
    await call.unary('Ok', { traceparent: `00-${TRACE}-${CALLER}-00` })
    expect(seen?.traceparent).toMatch(new RegExp(`^00-${TRACE}-[\\da-f]{16}-00$`))
    expect(exporter.getFinishedSpans()).toEqual([])
  })

  it('is a root when nothing usable came with it', async () => {
    await call.unary('Ok', { traceparent: 'nonsense' })
    expect((await onlySpan()).parentSpanContext).toBeUndefined()
  })

  it.each([
    ['NOT_FOUND', SpanStatusCode.UNSET],
    ['INVALID_ARGUMENT', SpanStatusCode.UNSET],
    ['RESOURCE_EXHAUSTED', SpanStatusCode.UNSET],
    ['INTERNAL', SpanStatusCode.ERROR],
    ['UNAVAILABLE', SpanStatusCode.ERROR],
  ] as const)('that ends with %s is an error only if it is the server’s', async (name, expected) => {
    await expect(call.unary('Fail', { code: String(status[name]) })).rejects.toThrow(name)
    const span = await onlySpan()
    expect(span.attributes).toMatchObject({ 'rpc.status_code': name })
    expect(span.status.code).toBe(expected)
  })

  it('ends its span when its handler throws', async () => {
    await expect(call.unary('Throw')).rejects.toThrow('UNKNOWN')
    expect((await onlySpan()).attributes).toMatchObject({ 'rpc.status_code': 'UNKNOWN' })
  })

  it('has none when it asks for health or reflection', async () => {
    await call.unary('Check')
    expect(exporter.getFinishedSpans()).toEqual([])
  })
})

describe('a stream', () => {
  it('ends its span when it ends', async () => {
    expect(await call.stream('Three').end).toBe(3)
    expect((await onlySpan()).attributes).toMatchObject({ 'rpc.status_code': 'OK' })
  })

  it('ends its span when the client cancels it', async () => {
    const stream = call.stream('Endless')
    await stream.first
    stream.cancel()
    await expect(stream.end).rejects.toThrow('CANCELLED')
    expect((await onlySpan()).attributes).toMatchObject({ 'rpc.status_code': 'CANCELLED' })
  })

  it('ends its span when its deadline has passed', async () => {
    // of this deadline the server alone knows: a client's own cancels first, now and then
    await expect(call.stream('Endless', { 'grpc-timeout': '200m' }).end).rejects.toThrow('DEADLINE_EXCEEDED')
    const span = await onlySpan()
    expect(span.attributes).toMatchObject({ 'rpc.status_code': 'DEADLINE_EXCEEDED' })
    expect(span.status.code).toBe(SpanStatusCode.ERROR)
  })

  it('ends its span when its handler throws', async () => {
    await expect(call.stream('ThrowInStream').end).rejects.toThrow('UNKNOWN')
    expect((await onlySpan()).attributes).toMatchObject({ 'rpc.status_code': 'UNKNOWN' })
  })

  it('ends its span when the connection breaks', async () => {
    const other = await startServer()
    const stream = other.stream('Endless')
    await stream.first
    other.close()
    await expect(stream.end).rejects.toThrow(/UNAVAILABLE|CANCELLED|INTERNAL/)
    expect((await onlySpan()).name).toBe(`${SERVICE}/Endless`)
  })
})

describe('without a tracer, the trace of a task', () => {
  it.each([
    ['what its caller sent', `00-${TRACE}-${CALLER}-01`, 'vendor=1', `00-${TRACE}-${CALLER}-01`],
    [
      'cut to what is known of a later version',
      `01-${TRACE}-${CALLER}-01-more`,
      '',
      `01-${TRACE}-${CALLER}-01`,
    ],
    ['nothing, if that is broken', `00-${'0'.repeat(32)}-${CALLER}-01`, '', ''],
    ['nothing, if there is none', '', '', ''],
  ])('is %s', (_, traceparent, tracestate, expected) => {
    const metadata = new Metadata()
    if (traceparent !== '') metadata.set('traceparent', traceparent)
    if (tracestate !== '') metadata.set('tracestate', tracestate)
    expect(callTrace(metadata)).toEqual({ traceparent: expected, tracestate })
  })
})

async function onlySpan() {
  const spans = await vi.waitFor(
    () => {
      expect(exporter.getFinishedSpans()).toHaveLength(1)
      return exporter.getFinishedSpans()
    },
    { timeout: 10_000 },
  )
  const [span] = spans
  if (span === undefined) throw new Error('no span')
  return span
}

async function startServer() {
  const server = new Server({ interceptors: [serverTracing(systemClock)] })
  server.addService(definition(SERVICE, Object.keys(HANDLERS)), HANDLERS)
  server.addService(definition('grpc.health.v1.Health', ['Check']), { Check: HANDLERS['Ok'] ?? (() => {}) })
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  )
  const Client = makeGenericClientConstructor({}, SERVICE)
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  const pathOf = (name: string): string =>
    name === 'Check' ? '/grpc.health.v1.Health/Check' : `/${SERVICE}/${name}`
  const unary = (name: string, metadata: Record<string, string> = {}): Promise<Buffer | undefined> =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        pathOf(name),
        same,
        same,
        Buffer.alloc(0),
        metadataOf(metadata),
        (error, answer) => (error ? reject(error) : resolve(answer)),
      )
    })
  const stream = (name: string, metadata: Record<string, string> = {}) => {
    const opened = client.makeServerStreamRequest(
      pathOf(name),
      same,
      same,
      Buffer.alloc(0),
      metadataOf(metadata),
    )
    let count = 0
    const first = new Promise<void>((resolve) => opened.once('data', () => resolve()))
    const end = new Promise<number>((resolve, reject) => {
      opened.on('data', () => count++)
      opened.on('error', reject).on('end', () => resolve(count))
    })
    end.catch(() => {})
    return { first, end, cancel: () => opened.cancel() }
  }
  const close = (): void => {
    server.forceShutdown()
    client.close()
  }
  return { unary, stream, close }
}

function metadataOf(values: Record<string, string>): Metadata {
  const metadata = new Metadata()
  for (const [key, value] of Object.entries(values)) metadata.set(key, value)
  return metadata
}

const same = (bytes: Buffer): Buffer => bytes

function definition(service: string, names: readonly string[]): ServiceDefinition {
  return Object.fromEntries(
    names.map((name) => [
      name,
      {
        path: `/${service}/${name}`,
        requestStream: false,
        responseStream: /Three|Endless|Stream/.test(name),
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      },
    ]),
  )
}

type Unary = ServerUnaryCall<Buffer, Buffer>
type Answer = (error: object | null, bytes?: Buffer) => void
type Stream = ServerWritableStream<Buffer, Buffer>

const HANDLERS: UntypedServiceImplementation = {
  Ok: (unary: Unary, answer: Answer) => {
    void (async () => {
      await Promise.resolve()
      seen = callTrace(unary.metadata)
      answer(null, Buffer.alloc(0))
    })()
  },
  Fail: (unary: Unary, answer: Answer) => answer({ code: Number(unary.metadata.get('code')[0]) }),
  Throw: () => {
    throw new Error('broken')
  },
  Three: (stream: Stream) => {
    for (const n of [1, 2, 3]) stream.write(Buffer.of(n))
    stream.end()
  },
  Endless: (stream: Stream) => void stream.write(Buffer.of(1)),
  ThrowInStream: () => {
    throw new Error('broken')
  },
}
