import type { LogPosition, PurgeRules, StoredConsumer } from '../store/task-store.js'
import type { Instant } from '../task/instant.js'

const DAY = 86_400_000
/** A consumer that has not read for so long holds nothing back any more. */
const IDLE_MS = 7 * DAY

export interface RetentionOptions {
  /** How long results are kept. */
  readonly resultsMs: number
  /** How long results are kept of what FAILED, TIMED_OUT or EXPIRED: somebody may have to deal with it. */
  readonly failedMs: number
  /** What all results may take; beyond it the oldest go before their time. */
  readonly maxResultBytes: number
}

export const DEFAULT_RETENTION: RetentionOptions = Object.freeze({
  resultsMs: 7 * DAY,
  failedMs: 30 * DAY,
  maxResultBytes: 1024 ** 3,
})

/** Entries that one step looks at: a few milliseconds of the store's writer. */
const STEP_ENTRIES = 2_000

/** What may go at this moment. Results that a consumer has not acknowledged stay, unless it is lossy or has been idle for a week. */
export function purgeRules(
  options: RetentionOptions,
  consumers: readonly StoredConsumer[],
  now: Instant,
): PurgeRules {
  const results = now - options.resultsMs
  const failed = now - Math.max(options.resultsMs, options.failedMs)
  return {
    now,
    before: {
      succeeded: results,
      cancelled: results,
      skipped: results,
      failed,
      timedOut: failed,
      expired: failed,
    },
    maxBytes: options.maxResultBytes,
    keepAfter: heldFrom(consumers, now),
    maxEntries: STEP_ENTRIES,
  }
}

function heldFrom(consumers: readonly StoredConsumer[], now: Instant): LogPosition {
  let first = Number.MAX_SAFE_INTEGER
  for (const { lossy, activeTime, position } of consumers)
    if (!lossy && now - activeTime < IDLE_MS) first = Math.min(first, position)
  return first
}
