import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { buffer } from 'node:stream/consumers'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

/** A span as a collector got it. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  /** '' = a root. */
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly startTimeNs: bigint
  readonly endTimeNs: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly string[]
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  /** 0 unset, 1 ok, 2 error. */
  readonly status: number
  readonly service: string
  readonly scope: string
}

/** A collector: takes OTLP over HTTP in protobuf, as exporters send it by default. */
export async function startReceiver() {
  const spans: ReceivedSpan[] = []
  const metrics = new Set<string>()
  const server = createServer((request, response) => {
    void receive(request).then(() => response.writeHead(200).end())
  })
  const receive = async (request: IncomingMessage): Promise<void> => {
    const sent = await buffer(request)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    if (request.headers['content-type'] !== 'application/x-protobuf')
      throw new Error(`not protobuf: ${request.headers['content-type']}`)
    if (request.url === '/v1/traces') spans.push(...readTraces(body))
    else for (const name of readMetricNames(body)) metrics.add(name)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans,
    metrics,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** One field of a message: its number, and its value as the wire has it. */
type Field = readonly [number: number, value: Uint8Array | bigint | number]

function fieldsOf(bytes: Uint8Array): Field[] {
  const reader = new BinaryReader(bytes)
  const fields: Field[] = []
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag()
    if (type === WireType.LengthDelimited) fields.push([number, reader.bytes()])
    else if (type === WireType.Varint) fields.push([number, BigInt(reader.uint64())])
    else if (type === WireType.Bit64) fields.push([number, BigInt(reader.fixed64())])
    else if (type === WireType.Bit32) fields.push([number, reader.fixed32()])
    else reader.skip(type)
  }
  return fields
}

function messages(bytes: Uint8Array, number: number): Uint8Array[] {
  return fieldsOf(bytes).flatMap(([n, value]) => (n === number && value instanceof Uint8Array ? [value] : []))
}

function message(bytes: Uint8Array, number: number): Uint8Array {
  return messages(bytes, number)[0] ?? new Uint8Array()
}

function text(bytes: Uint8Array, number: number): string {
  return Buffer.from(message(bytes, number)).toString()
}

function hex(bytes: Uint8Array, number: number): string {
  return Buffer.from(message(bytes, number)).toString('hex')
}

function integer(bytes: Uint8Array, number: number): bigint {
  const found = fieldsOf(bytes).find(([n]) => n === number)?.[1]
  return found === undefined || found instanceof Uint8Array ? 0n : BigInt(found)
}

// The numbers below are those of opentelemetry/proto/trace/v1/trace.proto and its neighbours.

function readTraces(request: Uint8Array): ReceivedSpan[] {
  return messages(request, 1).flatMap((resourceSpans) => {
    const service = String(attributesOf(message(resourceSpans, 1), 1)['service.name'])
    return messages(resourceSpans, 2).flatMap((scopeSpans) =>
      messages(scopeSpans, 2).map((span) => readSpan(span, service, text(message(scopeSpans, 1), 1))),
    )
  })
}

function readSpan(span: Uint8Array, service: string, scope: string): ReceivedSpan {
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    parentSpanId: hex(span, 4),
    name: text(span, 5),
    kind: Number(integer(span, 6)),
    startTimeNs: integer(span, 7),
    endTimeNs: integer(span, 8),
    attributes: attributesOf(span, 9),
    events: messages(span, 11).map((event) => text(event, 2)),
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    status: Number(integer(message(span, 15), 3)),
    service,
    scope,
  }
}

function attributesOf(bytes: Uint8Array, number: number): Record<string, unknown> {
  return Object.fromEntries(
    messages(bytes, number).map((pair) => [text(pair, 1), valueOf(fieldsOf(message(pair, 2))[0])]),
  )
}

function valueOf(field: Field | undefined): unknown {
  if (field === undefined) return undefined
  const [number, value] = field
  if (value instanceof Uint8Array) return number === 1 ? Buffer.from(value).toString() : value
  if (number === 2) return value === 1n
  return number === 4 ? Buffer.from(new BigUint64Array([BigInt(value)]).buffer).readDoubleLE() : Number(value)
}

function readMetricNames(request: Uint8Array): string[] {
  return messages(request, 1).flatMap((resource) =>
    messages(resource, 2).flatMap((scope) => messages(scope, 2).map((metric) => text(metric, 1))),
  )
}
