import { TaskError } from 'punctual/handlers'
import { retryAfterMs } from './retry-after.js'
import { signDelivery } from './webhook-signature.js'

export interface Delivery {
  readonly url: string
  readonly event: string
  readonly data: unknown
}

/** What a delivery needs from outside. The handler's context gives most of it; a test gives its own. */
export interface DeliveryContext {
  readonly signal: AbortSignal
  /** The same for each attempt, so that the receiver can tell a repeat. */
  readonly idempotencyKey: string
  readonly secret: string
  readonly nowMs: () => number
  /** Rejects when the signal aborts. */
  readonly sleep: (ms: number) => Promise<void>
}

/** A receiver may ask for any wait; beyond this the back-off of the task decides. */
export const LONGEST_WAIT_MS = 60_000

const GONE = 410
const ASKS_TO_TRY_AGAIN = new Set([408, 425, 429])

/**
 * Posts one event, signed. Each call is one POST: the retries are the task's, so that each is in the result log.
 *
 * @throws {@link TaskError} when the receiver did not take it.
 */
export async function deliver(delivery: Delivery, context: DeliveryContext): Promise<{ status: number }> {
  const response = await post(delivery, context)
  if (response.ok) {
    // unread bodies keep their connection from being used again
    await response.body?.cancel()
    return { status: response.status }
  }
  const reason = (await response.text()).slice(0, 200)
  const failure = judge(
    response.status,
    `${new URL(delivery.url).host} answered ${response.status}: ${reason}`,
  )
  const waitMs = retryAfterMs(response.headers.get('retry-after'), context.nowMs())
  // the lane is shared: a wait costs no thread, and the next attempt cannot come before it is over
  if (failure.retryable && waitMs !== undefined) await context.sleep(Math.min(waitMs, LONGEST_WAIT_MS))
  throw failure
}

async function post(delivery: Delivery, context: DeliveryContext): Promise<Response> {
  const { signal, idempotencyKey, secret, nowMs } = context
  const body = JSON.stringify({ event: delivery.event, data: delivery.data })
  const headers = {
    'content-type': 'application/json',
    'idempotency-key': idempotencyKey,
    ...signDelivery(secret, idempotencyKey, nowMs(), body),
  }
  try {
    // a redirect would carry the signature to an address that nobody agreed on
    return await fetch(delivery.url, { method: 'POST', headers, body, signal, redirect: 'manual' })
  } catch (error) {
    signal.throwIfAborted()
    // fetch says only "fetch failed"; its cause says why
    const cause = error instanceof Error ? (error.cause ?? error) : error
    const message = `no answer from ${new URL(delivery.url).host}: ${String(cause)}`
    throw new TaskError(message, { code: 'UNREACHABLE', cause })
  }
}

function judge(status: number, message: string): TaskError {
  const retryable = status >= 500 || ASKS_TO_TRY_AGAIN.has(status)
  return new TaskError(message, { code: status === GONE ? 'RECEIVER_GONE' : `HTTP_${status}`, retryable })
}
