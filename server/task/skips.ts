import type { Instant } from './instant.js'
import { logEntry } from './log-entry.js'
import type { PassedSlots } from './recurrence/slots.js'
import type { SkipReason, TaskResult } from './result.js'
import type { Task } from './task.js'

/** A stretch of slots that did not run, as one run with a result of its own. */
export interface Skip {
  readonly reason: SkipReason
  readonly count: number
  /** When the newest of them was due. */
  readonly due: Instant
}

/** Why passed slots did not run: those that clock changes left out, and `reason` for the others. */
export function skipsOf(passed: PassedSlots, reason: SkipReason): readonly Skip[] {
  const { count, newest, skippedInGap, newestInGap } = passed
  const skips: Skip[] = []
  if (newestInGap !== undefined) skips.push({ reason: 'dstGap', count: skippedInGap, due: newestInGap })
  if (newest) skips.push({ reason, count, due: newest.due })
  return skips
}

/** The results of skipped stretches: each takes the next run number, from `run` on. */
export function skippedResults(task: Task, run: number, skips: readonly Skip[], now: Instant): TaskResult[] {
  return skips.map(({ reason, count, due }, i) => {
    const skipped = { ...task, run: run + i, attempts: 0, interruptions: 0, manual: false, dueTime: due }
    return {
      ...logEntry('result', skipped, { outcome: 'skipped', endTimeUs: now * 1_000 }),
      skipReason: reason,
      skippedCount: count,
    }
  })
}
