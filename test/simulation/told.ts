import type { TaskResult } from '../../server/task/result.js'

export type Ended = 'succeeded' | 'failed' | 'cancelled' | 'expired'

/** A result as scenarios compare it. */
export interface Told {
  readonly run: number
  readonly outcome: string
  readonly attempts: number
  readonly due: number
  /** How many slots did not run, and why: '3 overlap'. */
  readonly skipped: string
  readonly manual: boolean
  readonly last: boolean
}

export function tell({
  run,
  outcome,
  attempts,
  dueTime,
  skipReason,
  skippedCount,
  manual,
  last,
}: TaskResult): Told {
  const skipped = skipReason ? `${skippedCount} ${skipReason}` : ''
  return { run, outcome, attempts, due: dueTime, skipped, manual, last }
}

/** The results of a task that has ended with the last of them. */
export const withLast = (results: readonly Told[]): Told[] =>
  results.map((told, i) => (i === results.length - 1 ? { ...told, last: true } : told))

/** Where a series stands before its first run. */
export const freshSeries = () => ({
  owedThrough: -Infinity,
  manualWaits: false,
  startedRuns: 0,
  lastStart: -Infinity,
  lastState: 'expired' as Ended,
})
