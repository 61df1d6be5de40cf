import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type OtlpReceiver, startOtlpReceiver } from '../../examples/demo/otlp-receiver.js'
import type { Span } from '../../examples/demo/trace-tree.js'

const EXPORT = {
  resourceSpans: [
    {
      resource: { attributes: [{ key: 'service.name', value: { stringValue: 'punctual' } }] },
      scopeSpans: [
        {
          scope: { name: 'punctual' },
          spans: [
            {
              traceId: '0af7651916cd43dd8448eb211c80319c',
              spanId: 'b7ad6b7169203331',
              parentSpanId: '00f067aa0ba902b7',
              name: 'attempt',
              kind: 1,
              startTimeUnixNano: '1700000000123456789',
              endTimeUnixNano: '1700000000124000000',
              attributes: [],
              status: { code: 2 },
            },
          ],
        },
      ],
    },
  ],
}

describe("the demo's receiver of traces", () => {
  let receiver: OtlpReceiver | undefined
  afterEach(() => receiver?.close())

  it.each(['identity', 'gzip'])('understands OTLP in JSON (%s)', async (encoding) => {
    const received: Span[] = []
    receiver = await startOtlpReceiver((spans) => received.push(...spans))
    const json = Buffer.from(JSON.stringify(EXPORT))
    const response = await fetch(`${receiver.endpoint}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      body: encoding === 'gzip' ? gzipSync(json) : json,
    })
    expect(response.status).toBe(200)
    expect(received).toEqual([
      {
        traceId: '0af7651916cd43dd8448eb211c80319c',
        spanId: 'b7ad6b7169203331',
        parentSpanId: '00f067aa0ba902b7',
        name: 'attempt',
        service: 'punctual',
        startMs: 1_700_000_000_123.456,
        endMs: 1_700_000_000_124,
        failed: true,
      },
    ])
  })

  it('refuses and reports what is not', async () => {
    const complaint = vi.spyOn(console, 'error').mockImplementation(() => {})
    receiver = await startOtlpReceiver(() => expect.unreachable())
    const response = await fetch(`${receiver.endpoint}/v1/traces`, { method: 'POST', body: 'protobuf' })
    expect(response.status).toBe(400)
    expect(complaint).toHaveBeenCalledOnce()
  })
})
