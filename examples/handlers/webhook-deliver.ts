import { defineHandler } from 'punctual/handlers'
import { z } from 'zod'
import { deliver } from './deliver.js'

/** From the operator, never from a task: who may schedule must not learn it. */
const secret = process.env.WEBHOOK_SECRET

/**
 * Tells another service of an event. Lane `shared`: a delivery mostly waits for an answer, so hundreds fit in one thread.
 *
 * @example { "handler": "webhook.deliver", "retry": { "maxAttempts": 8 }, "input": { "url": "https://example.com/hooks", "event": "order.paid", "data": { "order": 7 } } }
 */
export const webhookDeliver = defineHandler({
  name: 'webhook.deliver',
  description:
    'Posts {event, data} to a URL, signed (Standard Webhooks). Server errors, 408, 425 and 429 may be retried.',
  lane: 'shared',
  input: z.object({
    url: z.url({ protocol: /^https?$/ }),
    event: z.string().regex(/^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/, 'a name such as order.paid'),
    data: z.json(),
  }),
  output: z.object({ status: z.int() }),
  run: (delivery, context) => {
    if (!secret) throw new Error('the server has no WEBHOOK_SECRET: nothing is sent unsigned')
    return deliver(delivery, {
      signal: context.signal,
      idempotencyKey: context.idempotencyKey,
      secret,
      nowMs: Date.now,
      sleep: (ms) => context.sleep(ms),
    })
  },
})
