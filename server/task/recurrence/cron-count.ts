import type { Instant } from '../instant.js'
import { cronNext, type CronDue, type CronRule } from './cron-next.js'
import { countWallTimes } from './cron-wall-times.js'
import { LAST_DUE_TIME } from './recurrence.js'

/** How many due times a stretch of time holds: those that run, and those that the SKIP policy leaves out in a gap. */
export interface DueCount {
  readonly runs: number
  readonly skipped: number
  /** The newest of those left out. */
  readonly newestSkipped?: Instant | undefined
}

/**
 * Exactly how many due times lie in (after, through]. Calendar arithmetic, a few steps a day: a year of a rule that is due each second
 * takes well under a millisecond. Only around clock changes are the due times of fixed rules walked one by one.
 */
export function countCron(rule: CronRule, after: Instant, through: Instant): DueCount {
  let from = Math.floor(after / 1_000) + 1
  const last = Math.floor(Math.min(through, LAST_DUE_TIME) / 1_000)
  let runs = 0
  let skipped = 0
  let newestSkipped: Instant | undefined
  while (from <= last) {
    const { start, end, offset, before, after: later } = rule.zone.segmentAt(from)
    const quietFrom = rule.cron.followsRealTime ? start : start + Math.abs(offset - before)
    const quietEnd = rule.cron.followsRealTime ? end : end - Math.abs(later - offset)
    const quiet = from >= quietFrom && from < quietEnd
    const stop = Math.min(last + 1, quiet ? quietEnd : from < quietFrom ? quietFrom : end)
    if (quiet) {
      runs += countWallTimes(rule.cron, from + offset, stop + offset)
    } else {
      for (const { due, mark } of cronDues(rule, from * 1_000 - 1, stop * 1_000 - 1)) {
        if (mark === 'skipped') {
          skipped++
          newestSkipped = due
        } else runs++
      }
    }
    from = stop
  }
  return { runs, skipped, newestSkipped }
}

/** Each due time in (after, through], in order. */
function* cronDues(rule: CronRule, after: Instant, through: Instant): Generator<CronDue> {
  for (let next = cronNext(rule, after); next && next.due <= through; next = cronNext(rule, next.due))
    yield next
}

/**
 * The newest due times in (after, through] that run, at most `limit`, in increasing order; found by bisection on exact counts, so that
 * neither a long stretch nor a dense rule is walked through.
 */
export function newestCronDues(rule: CronRule, after: Instant, through: Instant, limit: number): CronDue[] {
  let tooEarly = after
  let lateEnough = through
  for (let back = 1_000; lateEnough > after; back *= 2) {
    const from = Math.max(after, through - back)
    if (countCron(rule, from, through).runs > limit) {
      tooEarly = from
      break
    }
    lateEnough = from
  }
  // More than `limit` after `tooEarly`, at most `limit` after `lateEnough`: narrow to the second.
  while (lateEnough - tooEarly > 1_000) {
    const middle = tooEarly + Math.floor((lateEnough - tooEarly) / 2)
    if (countCron(rule, middle, through).runs > limit) tooEarly = middle
    else lateEnough = middle
  }
  return [...cronDues(rule, lateEnough, through)].filter(({ mark }) => mark !== 'skipped')
}
