import type { Instant } from '../instant.js'
import { countCron, newestCronDues } from './cron-count.js'
import { cronNext, cronRule } from './cron-next.js'
import { countIntervalSlots, newestIntervalSlots, nextIntervalSlot } from './interval-slots.js'
import { jitterOf } from './jitter.js'
import {
  LAST_DUE_TIME,
  type CronRecurrence,
  type EveryRecurrence,
  type Recurrence,
  type SlotMark,
} from './recurrence.js'

/** One occurrence that a recurrence asks for. */
export interface Slot {
  /** Its place in the rhythm, before jitter: what identifies it, and what the next slot is counted from. */
  readonly slot: Instant
  /** When its run is due: the slot plus its jitter. */
  readonly due: Instant
  readonly mark: SlotMark
}

/** What the rhythm of a stored task hangs on, beside its recurrence. */
export interface Rhythm {
  /** Task id: jitter is derived from it. */
  readonly id: string
  /** The slot of the first run: origin of the grid of `every`. */
  readonly firstDue: Instant
}

/** Where a rhythm has come to. */
export interface LastSlot {
  /** The newest slot that has been dealt with, run or skipped. */
  readonly slot: Instant
  /** Start of the newest run, rounded up to milliseconds when finer; 0 or absent = none started. */
  readonly lastStart?: Instant
  /** End of the newest run; 0 or absent = none ended. */
  readonly lastEnd?: Instant
  /** Started runs so far, manual ones left out; absent = `maxRuns` is not looked at. */
  readonly startedRuns?: number
}

/** Slots that passed, with exact counts. */
export interface PassedSlots {
  /** How many of them are to run. */
  readonly count: number
  /** The newest of these. */
  readonly newest?: Slot
  /** The newest of these, at most `limit`, in order. */
  readonly slots: readonly Slot[]
  /** How many more were local times that do not exist, left out under the SKIP policy. */
  readonly skippedInGap: number
  /** The newest of those left out. */
  readonly newestInGap?: Instant
  /** All that comes up to here is in the counts, and nothing after it: what the next slot is counted from. */
  readonly through: Instant
}

/**
 * The first slot of a task: for cron, the first match after `acceptedAt` or the later `dueTime`; for the others, `dueTime` itself, at the
 * earliest `acceptedAt`. Its `slot` is the `firstDue` to keep. Undefined when `until` or the year 10000 comes before it.
 *
 * @example firstSlot(everyHour, { id: 'report', acceptedAt: now }) // due now; for cron '0 * * * *': at the next full hour
 */
export function firstSlot(
  recurrence: Recurrence,
  { id, acceptedAt, dueTime }: { id: string; acceptedAt: Instant; dueTime?: Instant | undefined },
): Slot | undefined {
  const base = Math.max(acceptedAt, dueTime ?? acceptedAt)
  if (recurrence.kind === 'cron') return cronSlot(recurrence, id, base)
  return intervalSlot(recurrence, id, base)
}

/**
 * The slot after `last`: of cron and `every`, strictly after its slot, whether or not that has passed by now; of `minInterval` max(end,
 * last start + interval); of `delayAfter` end + delay. Undefined when the series ends: `until`, `maxRuns`, or the year 10000.
 * A slot marked `skipped` does not run; see {@link nextRunSlot}.
 *
 * @example nextSlot(everyHour, { id: 'report', firstDue }, { slot: firstDue }) // due at firstDue + 1 h
 */
export function nextSlot(recurrence: Recurrence, rhythm: Rhythm, last: LastSlot): Slot | undefined {
  const { maxRuns } = recurrence
  if (maxRuns !== undefined && (last.startedRuns ?? 0) >= maxRuns) return undefined
  if (recurrence.kind === 'cron') return cronSlot(recurrence, rhythm.id, last.slot)
  if (recurrence.kind === 'every') {
    const slot = nextIntervalSlot(grid(recurrence, rhythm), last.slot)
    return slot === undefined ? undefined : intervalSlot(recurrence, rhythm.id, slot)
  }
  const lastStart = Math.ceil(last.lastStart || last.slot)
  const lastEnd = Math.ceil(last.lastEnd || last.slot)
  const asked =
    recurrence.kind === 'minInterval'
      ? Math.max(lastEnd, lastStart + recurrence.intervalMs)
      : lastEnd + recurrence.delayMs
  // A run beside the rhythm may have ended before the slot that waits.
  return intervalSlot(recurrence, rhythm.id, Math.max(asked, last.slot + 1))
}

/**
 * The next slot that will really run, and how many slots before it are left out because their local time does not exist.
 * These make one SKIPPED result (`dstGap`), due at the newest of them.
 */
export function nextRunSlot(
  recurrence: Recurrence,
  rhythm: Rhythm,
  last: LastSlot,
): { run: Slot | undefined; skippedInGap: { count: number; newest: Slot } | undefined } {
  let skippedInGap: { count: number; newest: Slot } | undefined
  let next = nextSlot(recurrence, rhythm, last)
  while (next?.mark === 'skipped') {
    skippedInGap = { count: (skippedInGap?.count ?? 0) + 1, newest: next }
    next = nextSlot(recurrence, rhythm, { ...last, slot: next.slot })
  }
  return { run: next, skippedInGap }
}

/**
 * The slots after slot `after` whose runs fell due by `through`: what `overlap` and `missed` are about. The counts are exact and quick, however
 * long the stretch and however dense the rule. `minInterval` and `delayAfter` have no slots of their own: 0.
 *
 * @param range.after - The newest slot that has been dealt with.
 * @param range.limit - How many slots to list, default 1,000.
 * @example slotsBetween(everySecond, rhythm, { after: lastSlot, through: now }).count // 31536000 after a year's downtime
 */
export function slotsBetween(
  recurrence: Recurrence,
  rhythm: Rhythm,
  { after, through, limit = 1_000 }: { after: Instant; through: Instant; limit?: number },
): PassedSlots {
  if (recurrence.kind !== 'cron' && recurrence.kind !== 'every')
    return { count: 0, slots: [], skippedInGap: 0, through: after }
  const last = Math.min(through, recurrence.until ?? through)
  const passed =
    recurrence.kind === 'cron'
      ? passedCron(recurrence, after, last, limit + 1)
      : passedGrid(recurrence, rhythm, after, last, limit + 1)
  const slots = passed.newest.map(({ slot, mark }) => ({
    slot,
    due: dueOf(recurrence, rhythm.id, slot),
    mark,
  }))
  // Jitter is below half the distance of slots, so at most the newest can still be ahead.
  const ahead = (slots.at(-1)?.due ?? through) > through ? slots.pop() : undefined
  const newest = slots.at(-1)
  return {
    count: passed.count - (ahead ? 1 : 0),
    slots: slots.slice(Math.max(0, slots.length - limit)),
    ...(newest && { newest }),
    skippedInGap: passed.skippedInGap,
    ...(passed.newestInGap !== undefined && { newestInGap: passed.newestInGap }),
    through: ahead ? ahead.slot - 1 : Math.max(after, last),
  }
}

/** The wall clock may be off by this much before a grid is moved for it: small corrections must not shift `every`. */
const CLOCK_TOLERANCE_MS = 1_000

/**
 * After a backward step of the clock: a next slot that lies further ahead than its interval allows is pulled in to now + interval. The grid of
 * `every` then starts anew from there, so keep the answered `firstDue`. Cron, the first slot, and slots within reach come back unchanged.
 */
export function pullIn(
  recurrence: Recurrence,
  rhythm: Rhythm,
  slot: Slot,
  now: Instant,
): { firstDue: Instant; slot: Slot } {
  const unchanged = { firstDue: rhythm.firstDue, slot }
  if (recurrence.kind === 'cron' || slot.slot <= rhythm.firstDue) return unchanged
  const intervalMs = recurrence.kind === 'delayAfter' ? recurrence.delayMs : recurrence.intervalMs
  if (slot.slot <= now + intervalMs + CLOCK_TOLERANCE_MS) return unchanged
  const pulled = now + intervalMs
  return { firstDue: now, slot: { slot: pulled, due: dueOf(recurrence, rhythm.id, pulled), mark: slot.mark } }
}

interface Passed {
  readonly count: number
  readonly skippedInGap: number
  readonly newestInGap?: Instant | undefined
  readonly newest: readonly { slot: Instant; mark: SlotMark }[]
}

function passedCron(recurrence: CronRecurrence, after: Instant, through: Instant, limit: number): Passed {
  const rule = cronRule(recurrence)
  const { runs, skipped, newestSkipped } = countCron(rule, after, through)
  const newest = newestCronDues(rule, after, through, limit).map(({ due, mark }) => ({ slot: due, mark }))
  return { count: runs, skippedInGap: skipped, newestInGap: newestSkipped, newest }
}

function passedGrid(
  recurrence: EveryRecurrence,
  rhythm: Rhythm,
  after: Instant,
  through: Instant,
  limit: number,
): Passed {
  const slots = newestIntervalSlots(grid(recurrence, rhythm), after, through, limit)
  return {
    count: countIntervalSlots(grid(recurrence, rhythm), after, through),
    skippedInGap: 0,
    newest: slots.map((slot) => ({ slot, mark: 'normal' as const })),
  }
}

const grid = ({ intervalMs }: EveryRecurrence, { firstDue }: Rhythm) => ({ firstDue, intervalMs })

function cronSlot(recurrence: CronRecurrence, id: string, after: Instant): Slot | undefined {
  const next = cronNext(cronRule(recurrence), after)
  if (!next || next.due > (recurrence.until ?? LAST_DUE_TIME)) return undefined
  const due = next.mark === 'skipped' ? next.due : dueOf(recurrence, id, next.due)
  return { slot: next.due, due, mark: next.mark }
}

function intervalSlot(recurrence: Recurrence, id: string, slot: Instant): Slot | undefined {
  if (slot > (recurrence.until ?? LAST_DUE_TIME)) return undefined
  return { slot, due: dueOf(recurrence, id, slot), mark: 'normal' }
}

/** Slot plus jitter; never past `until`, and never as far as halfway to the next slot, which clock changes can bring closer than the rule alone would. */
function dueOf(recurrence: Recurrence, id: string, slot: Instant): Instant {
  const { jitterMs, until = LAST_DUE_TIME } = recurrence
  if (!jitterMs) return slot
  let room = jitterMs
  if (recurrence.kind === 'cron') {
    const next = cronNext(cronRule(recurrence), slot)
    if (next) room = Math.min(room, (next.due - slot) / 2)
  }
  return Math.min(slot + jitterOf(id, slot, room), until)
}
