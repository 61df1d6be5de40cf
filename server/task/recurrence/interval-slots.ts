import type { Instant } from '../instant.js'
import { LAST_DUE_TIME } from './recurrence.js'

/** The slots of `every`: slot k, from 0, is due at `firstDue` + k × `intervalMs`. */
export interface IntervalGrid {
  readonly firstDue: Instant
  readonly intervalMs: number
}

/** The first slot strictly after `after`; undefined when it would lie past the year 9999. Whole numbers throughout: no drift, however large k is. */
export function nextIntervalSlot(
  { firstDue, intervalMs }: IntervalGrid,
  after: Instant,
): Instant | undefined {
  const slot =
    after < firstDue ? firstDue : firstDue + (wholeIntervals(after - firstDue, intervalMs) + 1) * intervalMs
  return slot > LAST_DUE_TIME ? undefined : slot
}

/** How many slots lie in (after, through]. */
export function countIntervalSlots(grid: IntervalGrid, after: Instant, through: Instant): number {
  return Math.max(0, slotsThrough(grid, Math.min(through, LAST_DUE_TIME)) - slotsThrough(grid, after))
}

/** The newest slots in (after, through], at most `limit`, in increasing order. */
export function newestIntervalSlots(
  grid: IntervalGrid,
  after: Instant,
  through: Instant,
  limit: number,
): Instant[] {
  const last = slotsThrough(grid, Math.min(through, LAST_DUE_TIME))
  const count = Math.min(limit, countIntervalSlots(grid, after, through))
  return Array.from({ length: count }, (_, i) => grid.firstDue + (last - count + i) * grid.intervalMs)
}

/** How many slots are at or before `instant`. */
function slotsThrough({ firstDue, intervalMs }: IntervalGrid, instant: Instant): number {
  return instant < firstDue ? 0 : wholeIntervals(instant - firstDue, intervalMs) + 1
}

/** Exact: the remainder is taken off first, so that no rounding of a quotient can move a slot. */
const wholeIntervals = (span: number, intervalMs: number): number => (span - (span % intervalMs)) / intervalMs
