import { createHmac, timingSafeEqual } from 'node:crypto'

/** The headers of the Standard Webhooks convention that say who sent a body, when, and prove both. */
export interface SignedHeaders {
  readonly 'webhook-id': string
  /** Seconds since 1970. */
  readonly 'webhook-timestamp': string
  /** `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. */
  readonly 'webhook-signature': string
}

/** A receiver refuses what is older or newer than this: a recorded delivery cannot be replayed later. */
export const TOLERANCE_SECONDS = 300

/**
 * Signs one delivery.
 *
 * @param secret - Shared with the receiver: `whsec_` and base64, or the key as plain text.
 * @param nowMs - Milliseconds since 1970.
 */
export function signDelivery(secret: string, id: string, nowMs: number, body: string): SignedHeaders {
  const timestamp = String(Math.floor(nowMs / 1_000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmac(secret, `${id}.${timestamp}.${body}`)}`,
  }
}

/** What the receiver does: true when the body is the sender's, whole, and fresh. */
export function isAuthentic(secret: string, headers: SignedHeaders, nowMs: number, body: string): boolean {
  const timestamp = Number(headers['webhook-timestamp'])
  if (!Number.isInteger(timestamp) || Math.abs(nowMs / 1_000 - timestamp) > TOLERANCE_SECONDS) return false
  const expected = signDelivery(secret, headers['webhook-id'], timestamp * 1_000, body)['webhook-signature']
  const [given, wanted] = [Buffer.from(headers['webhook-signature']), Buffer.from(expected)]
  // a comparison that stops at the first difference tells an attacker how far he got
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

function hmac(secret: string, text: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
  return createHmac('sha256', key).update(text).digest('base64')
}
