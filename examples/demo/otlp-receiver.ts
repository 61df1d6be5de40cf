import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'
import type { Span } from './trace-tree.js'

/** As much of OTLP's JSON as the tree needs. */
const exportRequest = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({
        attributes: z.array(
          z.object({ key: z.string(), value: z.object({ stringValue: z.string().optional() }) }),
        ),
      }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              startTimeUnixNano: z.coerce.bigint(),
              endTimeUnixNano: z.coerce.bigint(),
              status: z.object({ code: z.number().optional() }).optional(),
            }),
          ),
        }),
      ),
    }),
  ),
})

const STATUS_ERROR = 2

/**
 * Receives traces as a collector does: OTLP over HTTP, in JSON, at `http://127.0.0.1:PORT/v1/traces`.
 *
 * @param listener - Told of the spans of each export.
 */
export async function startOtlpReceiver(listener: (spans: readonly Span[]) => void): Promise<OtlpReceiver> {
  const server = createServer((request, response) => {
    void received(request, listener).then((status) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}'),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

export interface OtlpReceiver {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string
  close(): void
}

/** Hands on the spans of one export; the HTTP status to answer. */
async function received(
  request: IncomingMessage,
  listener: (spans: readonly Span[]) => void,
): Promise<number> {
  try {
    const sent = await buffer(request)
    const json = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent
    listener(spansOf(JSON.parse(json.toString())))
    return 200
  } catch (error) {
    console.error('an export that is not OTLP in JSON:', error)
    return 400
  }
}

/** The spans of one ExportTraceServiceRequest. */
function spansOf(request: unknown): Span[] {
  return exportRequest.parse(request).resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? ''
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, startTimeUnixNano, endTimeUnixNano, status }) => ({
        traceId,
        spanId,
        ...(parentSpanId && { parentSpanId }),
        name,
        service,
        startMs: milliseconds(startTimeUnixNano),
        endMs: milliseconds(endTimeUnixNano),
        failed: status?.code === STATUS_ERROR,
      })),
    )
  })
}

/** Whole microseconds still fit a double's 53 bits; nanoseconds would not. */
function milliseconds(nanos: bigint): number {
  return Number(nanos / 1_000n) / 1_000
}
