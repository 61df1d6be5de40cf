import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as read } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { type DeliveryContext, deliver, LONGEST_WAIT_MS } from '../../examples/handlers/deliver.js'
import { retryAfterMs } from '../../examples/handlers/retry-after.js'
import {
  isAuthentic,
  type SignedHeaders,
  signDelivery,
  TOLERANCE_SECONDS,
} from '../../examples/handlers/webhook-signature.js'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const NOW = Date.UTC(2026, 10, 30, 12, 0, 0)

describe('a delivery', () => {
  it('is one POST of the event, with a signature that the receiver can check and the key of the run', async () => {
    let seen: IncomingMessage | undefined
    let body = ''
    const url = await receiver((request, response) => {
      seen = request
      void read(request).then((sent) => {
        body = sent
        return response.writeHead(202).end()
      })
    })
    const { context } = inContext()
    await expect(deliver({ url, event: 'order.paid', data: { order: 7 } }, context)).resolves.toEqual({
      status: 202,
    })
    expect(JSON.parse(body)).toEqual({ event: 'order.paid', data: { order: 7 } })
    expect(seen?.headers).toMatchObject({ 'idempotency-key': 'order-7/1', 'webhook-id': 'order-7/1' })
    expect(isAuthentic(SECRET, seen?.headers as unknown as SignedHeaders, NOW, body)).toBe(true)
  })

  it.each([
    [500, 'HTTP_500', true],
    [503, 'HTTP_503', true],
    [429, 'HTTP_429', true],
    [408, 'HTTP_408', true],
    [400, 'HTTP_400', false],
    [401, 'HTTP_401', false],
    [410, 'RECEIVER_GONE', false],
    [302, 'HTTP_302', false],
  ])('that is answered %i fails as %s; worth another try: %s', async (status, code, retryable) => {
    const url = await receiver((_, response) =>
      response.writeHead(status, { location: 'http://127.0.0.1:1/elsewhere' }).end('not today'),
    )
    const { context } = inContext()
    const failure = deliver({ url, event: 'e', data: null }, context)
    await expect(failure).rejects.toMatchObject({ code, retryable })
    await expect(failure).rejects.toThrow('not today')
  })

  it('waits as long as the receiver asks before it may be tried again, within reason', async () => {
    for (const [asked, waited] of [
      ['7', 7_000],
      ['86400', LONGEST_WAIT_MS],
    ] as const) {
      const url = await receiver((_, response) => response.writeHead(503, { 'retry-after': asked }).end())
      const { context, sleeps } = inContext()
      await expect(deliver({ url, event: 'e', data: null }, context)).rejects.toMatchObject({
        code: 'HTTP_503',
      })
      expect(sleeps).toEqual([waited])
    }
  })

  it('does not wait for a receiver that will never take it', async () => {
    const url = await receiver((_, response) => response.writeHead(404, { 'retry-after': '7' }).end())
    const { context, sleeps } = inContext()
    await expect(deliver({ url, event: 'e', data: null }, context)).rejects.toMatchObject({
      retryable: false,
    })
    expect(sleeps).toEqual([])
  })

  it('to nobody may be tried again', async () => {
    const url = await receiver(() => {})
    await closeReceivers()
    const { context } = inContext()
    const failure = deliver({ url, event: 'e', data: null }, context)
    await expect(failure).rejects.toMatchObject({ code: 'UNREACHABLE', retryable: true })
  })

  it('stops when it is told to, and says why', async () => {
    const stop = new AbortController()
    const reason = new Error('cancelled')
    const url = await receiver(() => stop.abort(reason))
    const { context } = inContext({ signal: stop.signal })
    await expect(deliver({ url, event: 'e', data: null }, context)).rejects.toBe(reason)
  })
})

describe('a signature', () => {
  const body = '{"event":"order.paid"}'
  const headers = signDelivery(SECRET, 'order-7/1', NOW, body)

  it('is that of the Standard Webhooks convention', () => {
    // the example of its specification
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const signed = signDelivery(
      secret,
      'msg_p5jXN8AQM9LWM0D4loKWxJek',
      1_614_265_330_000,
      '{"test": 2432232314}',
    )
    expect(signed['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  it.each([
    ['another body', { body: `${body} ` }],
    ['another id', { headers: { ...headers, 'webhook-id': 'order-8/1' } }],
    ['another time', { headers: { ...headers, 'webhook-timestamp': String(NOW / 1_000 + 1) } }],
    ['a time that is none', { headers: { ...headers, 'webhook-timestamp': 'now' } }],
    ['another secret', { secret: 'whsec_c29tZWJvZHkgZWxzZQ==' }],
    ['a delivery of long ago', { now: NOW + (TOLERANCE_SECONDS + 1) * 1_000 }],
    [
      'a cut signature',
      { headers: { ...headers, 'webhook-signature': headers['webhook-signature'].slice(0, -1) } },
    ],
  ])('does not fit %s', (_, change) => {
    const given = { secret: SECRET, headers, now: NOW, body }
    const { secret, headers: sent, now, body: got } = { ...given, ...change }
    expect(isAuthentic(given.secret, given.headers, given.now, given.body)).toBe(true)
    expect(isAuthentic(secret, sent, now, got)).toBe(false)
  })
})

describe('Retry-After', () => {
  it.each([
    ['120', 120_000],
    ['0', 0],
    [new Date(NOW + 90_000).toUTCString(), 90_000],
    [new Date(NOW - 90_000).toUTCString(), 0],
    ['soon', undefined],
    ['-5', undefined],
    [null, undefined],
  ])('%s', (header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected)
  })
})

const servers: Server[] = []

/** A receiver on loopback; its address. */
async function receiver(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
}

async function closeReceivers(): Promise<void> {
  const closing = servers.splice(0)
  await Promise.all(
    closing.map((server) => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    }),
  )
}

afterEach(closeReceivers)

/** What the handler's context would give, with a clock that stands still and sleeps that only note themselves. */
function inContext(given: Partial<DeliveryContext> = {}): { context: DeliveryContext; sleeps: number[] } {
  const sleeps: number[] = []
  const context: DeliveryContext = {
    signal: new AbortController().signal,
    idempotencyKey: 'order-7/1',
    secret: SECRET,
    nowMs: () => NOW,
    sleep: (ms) => {
      sleeps.push(ms)
      return Promise.resolve()
    },
    ...given,
  }
  return { context, sleeps }
}
