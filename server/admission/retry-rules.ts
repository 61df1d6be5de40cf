import type { RetryPolicy } from '../task/retry.js'
import { FIXED_LIMITS, isLonger } from './limits.js'

const { maxAttempts, maxBackoffMs, maxBackoffMultiplier, maxNonRetryableCodes, maxErrorCodeChars } =
  FIXED_LIMITS

/** Tells `wrong` of every violation of a retry policy. NaN passes no comparison, so each rule is written as what must hold. */
export function checkRetry(retry: RetryPolicy, wrong: (field: string, description: string) => void): void {
  if (!(retry.maxAttempts >= 1 && retry.maxAttempts <= maxAttempts)) {
    wrong(
      'task.retry.max_attempts',
      `must be from 1 (no retry) to ${maxAttempts}, the first attempt included, got ${retry.maxAttempts}`,
    )
  }
  if (!(retry.initialBackoffMs >= 1 && retry.initialBackoffMs <= maxBackoffMs)) {
    wrong('task.retry.initial_backoff', 'must be from 1 ms to 366 days')
  }
  if (!(retry.backoffMultiplier >= 1 && retry.backoffMultiplier <= maxBackoffMultiplier)) {
    wrong(
      'task.retry.backoff_multiplier',
      `must be from 1 to ${maxBackoffMultiplier}, got ${retry.backoffMultiplier}`,
    )
  }
  if (!(retry.maxBackoffMs >= 1 && retry.maxBackoffMs <= maxBackoffMs)) {
    wrong('task.retry.max_backoff', 'must be from 1 ms to 366 days')
  }
  if (!(retry.jitterRatio >= 0 && retry.jitterRatio <= 1)) {
    wrong('task.retry.jitter_ratio', `must be from 0 (no jitter) to 1, got ${retry.jitterRatio}`)
  }
  if (retry.nonRetryableCodes.length > maxNonRetryableCodes) {
    wrong('task.retry.non_retryable_codes', `must be at most ${maxNonRetryableCodes} codes`)
  }
  retry.nonRetryableCodes.forEach((code, index) => {
    if (code === '' || isLonger(code, maxErrorCodeChars)) {
      wrong(`task.retry.non_retryable_codes[${index}]`, `must be 1 to ${maxErrorCodeChars} characters`)
    }
  })
}
