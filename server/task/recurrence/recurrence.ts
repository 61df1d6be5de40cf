import type { Instant } from '../instant.js'

/** What happens to a slot that passes while a run of the same task is open. */
export type OverlapPolicy = 'skip' | 'queueOne'
/** What happens to slots that passed while nothing could run: server down, frozen, clock stepped forward. */
export type MissedPolicy = 'runOnce' | 'runAll' | 'skip'
/** A fixed cron time that does not exist on a day of clock change: run it later by the length of the gap, or not at all. */
export type DstGapPolicy = 'shift' | 'skip'
/** A fixed cron time that comes twice on a day of clock change: run it in the first pass, the second, or both. */
export type DstOverlapPolicy = 'first' | 'last' | 'both'

/** What clock changes did to a slot. A `skipped` slot does not run; `doubled` ones are both runs of a local time that comes twice. */
export type SlotMark = 'normal' | 'shifted' | 'skipped' | 'doubled'

interface Bounds {
  /** Ends the series after this many started runs; manual and skipped runs do not count. At least 1. */
  readonly maxRuns?: number
  /** Inclusive: no run is due after it. */
  readonly until?: Instant
  /** Each due time is moved later by 0 … this (exclusive), derived from task id and slot. The grid of slots does not move. */
  readonly jitterMs?: number
}

interface SlotPolicies {
  readonly overlap: OverlapPolicy
  readonly missed: MissedPolicy
}

/** Local times of a zone, as a cron expression. */
export interface CronRecurrence extends Bounds, SlotPolicies {
  readonly kind: 'cron'
  /** 5 fields, or 6 with seconds first. */
  readonly expression: string
  /** IANA name or `UTC`. */
  readonly timeZone: string
  readonly dstGap: DstGapPolicy
  readonly dstOverlap: DstOverlapPolicy
}

/** Fixed rate: slot k is due at first + k × interval, exactly. */
export interface EveryRecurrence extends Bounds, SlotPolicies {
  readonly kind: 'every'
  readonly intervalMs: number
}

/** Due again as soon as a run has ended, but starts are at least this far apart. */
export interface MinIntervalRecurrence extends Bounds {
  readonly kind: 'minInterval'
  readonly intervalMs: number
}

/** Due this long after a run has ended. */
export interface DelayAfterRecurrence extends Bounds {
  readonly kind: 'delayAfter'
  readonly delayMs: number
}

/** How a task repeats, complete and valid: `completeRecurrence` makes one from what a caller sent. */
export type Recurrence = CronRecurrence | EveryRecurrence | MinIntervalRecurrence | DelayAfterRecurrence

/** How a task repeats, as a caller sent it: flat, as in the proto. Exactly one of the first four says when. */
export interface RecurrenceInput {
  readonly cron?: string | undefined
  readonly everyMs?: number | undefined
  readonly minIntervalMs?: number | undefined
  readonly delayAfterMs?: number | undefined
  /** Default `UTC`; for cron only. */
  readonly timeZone?: string | undefined
  readonly maxRuns?: number | undefined
  readonly until?: Instant | undefined
  readonly jitterMs?: number | undefined
  /** Default `skip`; for cron and every only. */
  readonly overlap?: OverlapPolicy | undefined
  /** Default `runOnce`; for cron and every only. */
  readonly missed?: MissedPolicy | undefined
  /** Default `shift`; for cron only. */
  readonly dstGap?: DstGapPolicy | undefined
  /** Default `first`; for cron only. */
  readonly dstOverlap?: DstOverlapPolicy | undefined
}

/** Shortest interval of `every`, `minInterval` and `delayAfter`. */
export const MIN_INTERVAL_MS = 100

/** The last instant that can be a due time: a millisecond before the year 10000. A rhythm ends there. */
export const LAST_DUE_TIME: Instant = 253_402_300_799_999
