import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createClient, type SchedulerClient } from 'punctual'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { handlers } from '../../examples/handlers/index.js'
import { isAuthentic, type SignedHeaders } from '../../examples/handlers/webhook-signature.js'
import { ServerProcess } from './server-process.js'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

interface Delivery {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

describe('the example handlers on a server', () => {
  let server: ServerProcess
  let client: SchedulerClient<typeof handlers>
  let receiver: Server
  let url: string
  const deliveries: Delivery[] = []

  beforeAll(async () => {
    // too busy for the first delivery, well for the others
    receiver = createServer((request, response) => {
      void text(request).then((body) => {
        deliveries.push({ headers: request.headers, body })
        return response.writeHead(deliveries.length === 1 ? 503 : 204, { 'retry-after': '0' }).end()
      })
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`
    const args = ['--handlers', 'examples/handlers/index.ts', '--handler-env', 'WEBHOOK_SECRET']
    server = await ServerProcess.start(args, { WEBHOOK_SECRET: SECRET, NODE_OPTIONS: '--import tsx' })
    client = createClient({ address: server.address })
  })

  afterAll(async () => {
    await client.close()
    await server[Symbol.asyncDispose]()
    receiver.closeAllConnections()
    receiver.close()
  })

  it('deliver a webhook again when the receiver was too busy: signed, and under the same key', async () => {
    const event = { url, event: 'order.paid', data: { order: 7 } }
    const retry = { maxAttempts: 3, initialBackoffMs: 100 }
    const task = await client.schedule('webhook.deliver', event, { id: 'order-7-paid', retry })
    expect(await task.result()).toMatchObject({ attempts: 2, output: { status: 204 } })
    expect(deliveries.map(({ headers }) => headers['idempotency-key'])).toEqual([
      'order-7-paid/1',
      'order-7-paid/1',
    ])
    for (const { headers, body } of deliveries) {
      expect(JSON.parse(body)).toEqual({ event: 'order.paid', data: { order: 7 } })
      expect(isAuthentic(SECRET, headers as unknown as SignedHeaders, Date.now(), body)).toBe(true)
    }
  })

  it('build a report, and stop building when cancelled', async () => {
    const small = await client.schedule('report.build', { month: '2026-11', sales: 1_000, format: 'csv' })
    expect((await small.result()).output).toMatchObject({ csv: expect.stringContaining('anvil') as string })
    const large = await client.schedule('report.build', { month: '2026-11', sales: 5_000_000 })
    await expect.poll(() => large.state(), { timeout: 30_000 }).toBe('running')
    await large.cancel({ graceMs: 20_000 })
    expect(await large.ended()).toMatchObject({ outcome: 'cancelled', cancelStage: 'cooperative' })
  })

  it('refuse what their schemas refuse, before anything is stored', async () => {
    const bad = client.schedule('report.build', { month: 'November', sales: -1 })
    await expect(bad).rejects.toMatchObject({
      violations: [{ field: 'task.input.month' }, { field: 'task.input.sales' }],
    })
  })

  it('show their schemas to callers', async () => {
    const listed = await client.handlers()
    expect(listed.map(({ name }) => name)).toEqual(['fibonacci', 'report.build', 'webhook.deliver'])
    expect(listed.at(-1)?.inputSchema).toMatchObject({ required: ['url', 'event', 'data'] })
  })
})
