import type { LogPosition, PurgeRules } from '../store/task-store.js'
import type { Instant } from '../task/instant.js'

const DAY = 86_400_000

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

/** What may go at this moment. @param keepAfter - What comes after this position stays. */
export function purgeRules(options: RetentionOptions, keepAfter: LogPosition, now: Instant): PurgeRules {
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
    keepAfter,
    maxEntries: STEP_ENTRIES,
  }
}
