import { isDeepStrictEqual } from 'node:util'
import type { RetryPolicy as WireRetry } from '../../proto/generated/punctual/v1/task.js'
import type { Violation } from '../task/errors.js'
import { DEFAULT_RETRY, type RetryPolicy } from '../task/retry.js'
import { fromMs, toMs } from './translate-time.js'

/** Fills in the defaults of what was left out; what cannot be read gets its default too, and is in `found`. */
export function toRetry(wire: WireRetry, found: Violation[]): RetryPolicy {
  if (wire.maxAttempts === undefined && saysMore(wire)) {
    found.push({
      field: 'task.retry.max_attempts',
      description:
        'must be set where a retry policy is given: without it a run has one attempt and is never tried again',
    })
  }
  const initial = wire.initialBackoff && toMs(wire.initialBackoff, 'task.retry.initial_backoff', found)
  const max = wire.maxBackoff && toMs(wire.maxBackoff, 'task.retry.max_backoff', found)
  return {
    maxAttempts: wire.maxAttempts ?? DEFAULT_RETRY.maxAttempts,
    initialBackoffMs: initial ?? DEFAULT_RETRY.initialBackoffMs,
    backoffMultiplier: wire.backoffMultiplier ?? DEFAULT_RETRY.backoffMultiplier,
    maxBackoffMs: max ?? DEFAULT_RETRY.maxBackoffMs,
    jitterRatio: wire.jitterRatio ?? DEFAULT_RETRY.jitterRatio,
    nonRetryableCodes: wire.nonRetryableCodes,
  }
}

/** Whether a policy says how to retry. */
const saysMore = (wire: WireRetry): boolean =>
  wire.initialBackoff !== undefined ||
  wire.backoffMultiplier !== undefined ||
  wire.maxBackoff !== undefined ||
  wire.jitterRatio !== undefined ||
  wire.nonRetryableCodes.length > 0

/** @returns undefined for the default policy, so that it reads back as it was sent. */
export function fromRetry(retry: RetryPolicy): WireRetry | undefined {
  const { maxAttempts, initialBackoffMs, backoffMultiplier, maxBackoffMs, jitterRatio, nonRetryableCodes } =
    retry
  if (isDeepStrictEqual(retry, DEFAULT_RETRY)) return undefined
  return {
    maxAttempts,
    initialBackoff: fromMs(initialBackoffMs),
    backoffMultiplier,
    maxBackoff: fromMs(maxBackoffMs),
    jitterRatio,
    nonRetryableCodes: [...nonRetryableCodes],
  }
}
