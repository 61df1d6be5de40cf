import type { Instant } from '../instant.js'
import { parseCron, type CronExpression } from './cron-expression.js'
import { nextWallTime } from './cron-wall-times.js'
import {
  LAST_DUE_TIME,
  type CronRecurrence,
  type DstGapPolicy,
  type DstOverlapPolicy,
  type SlotMark,
} from './recurrence.js'
import { zoneOffsets, type ZoneOffsets, type ZoneSegment } from './zone-offsets.js'

/** A cron rule with its zone and DST policies, ready to be asked. */
export interface CronRule {
  readonly cron: CronExpression
  readonly zone: ZoneOffsets
  readonly dstGap: DstGapPolicy
  readonly dstOverlap: DstOverlapPolicy
}

/** An instant of a cron rule, and what clock changes made of it. */
export interface CronDue {
  readonly due: Instant
  readonly mark: SlotMark
}

const LAST_SECOND = Math.floor(LAST_DUE_TIME / 1_000)
/** 0001-01-01; a base before it is taken as it. */
const FIRST_SECOND = -62_135_596_800
/** No instant is further than this from the wall time that it was asked for: offsets stay within ±15 h, gaps within 24 h. */
const REACH = 2 * 86_400

/** The rule of a complete recurrence. Cheap: expression and zone are remembered. */
export const cronRule = ({ expression, timeZone, dstGap, dstOverlap }: CronRecurrence): CronRule => ({
  cron: parseCron(expression),
  zone: zoneOffsets(timeZone),
  dstGap,
  dstOverlap,
})

/**
 * The next due time of a cron rule, strictly after `after`; undefined when there is none before the year 10000.
 *
 * A rule whose minute or hour begins with `*` follows real time: both passes of a repeated hour (`doubled`), nothing in a gap. Any
 * other rule names fixed local times. One that does not exist is moved forward by the length of the gap (`shifted`), or stands at
 * that instant as `skipped` under the SKIP policy; where it meets a regular time, the two are one, `normal`. One that comes twice is due in the first pass, the second, or both.
 *
 * @example
 * const rule = cronRule({ kind: 'cron', expression: '30 2 * * *', timeZone: 'America/New_York', dstGap: 'shift', dstOverlap: 'first', overlap: 'skip', missed: 'runOnce' })
 * cronNext(rule, Date.parse('2027-03-13T12:00:00Z')) // { due: 2027-03-14T07:30:00Z, mark: 'shifted' }
 */
export function cronNext(rule: CronRule, after: Instant): CronDue | undefined {
  let from = Math.max(FIRST_SECOND, Math.floor(after / 1_000) + 1)
  while (from <= LAST_SECOND) {
    const segment = rule.zone.segmentAt(from)
    const regular = nextRegular(rule, segment, from)
    const moved = nextMoved(rule, segment, from)
    if (moved !== undefined && (regular.at === undefined || moved < regular.at))
      return dueAt(moved, rule.dstGap === 'shift' ? 'shifted' : 'skipped')
    if (regular.at !== undefined)
      return dueAt(regular.at, isDoubled(rule, segment, regular.at) ? 'doubled' : 'normal')
    if (regular.nextWall === undefined) return undefined
    // Nothing in this stretch. Years may lie between two matches of a rare rule: go near the next one at once, unless the clock goes
    // back where the stretch ends and shows times again that may match.
    from = segment.after < segment.offset ? segment.end : Math.max(segment.end, regular.nextWall - REACH)
  }
  return undefined
}

const dueAt = (second: number, mark: SlotMark): CronDue | undefined =>
  second > LAST_SECOND ? undefined : { due: second * 1_000, mark }

/** The first second ≥ `from` in the stretch whose local time matches and, for a fixed time that comes twice, lies in the pass that counts. */
function nextRegular(
  rule: CronRule,
  segment: ZoneSegment,
  from: number,
): { at?: number; nextWall?: number | undefined } {
  const { offset } = segment
  let first = from + offset
  let end = segment.end + offset
  if (!rule.cron.followsRealTime) {
    if (rule.dstOverlap === 'first') first = Math.max(first, segment.start + segment.before)
    if (rule.dstOverlap === 'last') end = Math.min(end, segment.end + segment.after)
  }
  const wall = nextWallTime(rule.cron, first)
  return wall !== undefined && wall < end ? { at: wall - offset } : { nextWall: wall }
}

/** The first second ≥ `from` that a fixed local time was moved to, because the clock went forward over it where this stretch begins. */
function nextMoved(rule: CronRule, segment: ZoneSegment, from: number): number | undefined {
  const { start, before, offset } = segment
  // The gap holds the local times [start + before, start + offset); each moves to the instant that it would be under the old offset.
  if (offset <= before || rule.cron.followsRealTime || from >= start + offset - before) return undefined
  const wall = nextWallTime(rule.cron, from + before)
  return wall !== undefined && wall < start + offset ? wall - before : undefined
}

/** Whether the local time at `second` comes twice and the rule runs both times. */
function isDoubled(
  rule: CronRule,
  { start, end, offset, before, after }: ZoneSegment,
  second: number,
): boolean {
  if (!rule.cron.followsRealTime && rule.dstOverlap !== 'both') return false
  return second + offset < start + before || second + offset >= end + after
}
