import type { Instant } from './instant.js'
import type { AttemptError } from './outcome.js'
import type { TaskSpec } from './task-spec.js'

export type LiveState = 'scheduled' | 'running'
export type EndState = 'succeeded' | 'failed' | 'cancelled' | 'expired'
export type TaskState = LiveState | EndState

/** Where the series of a recurring task stands. */
export interface Series {
  /** Grid origin: the due time of slot 0, without jitter. */
  readonly firstDue: Instant
  /** The slot (instant without jitter) of the current run; a manual run keeps the slot before it. */
  readonly slot: Instant
  /** Runs that have started, manual ones left out: what `maxRuns` counts. */
  readonly startedRuns: number
  /** Start of the last run, for `minInterval`; 0 = none yet. */
  readonly lastStart: Instant
  /** State that the series has if it ends now: that of its last started run, 'expired' when none started. */
  readonly lastState: EndState
  /** RunNow was called while a run was open: one manual run waits. */
  readonly manualWaits: boolean
  /** Slots up to this one run one after another, whatever passes meanwhile: RUN_ALL catches up with them, or a run was open when a pause began. */
  readonly owedThrough?: Instant
}

/** What a REPLACE asked for while a run was open: it takes over when that run has its result. */
export interface Replacement {
  readonly spec: TaskSpec
  /** Fixed when the REPLACE was accepted, so that its delay counts from then. */
  readonly dueTime: Instant
}

/** A stored task: what was asked for, and where it stands. Immutable; a transition makes a new one. */
export interface Task {
  /** The store's own number: order of arrival, never reused. */
  readonly arrival: number
  readonly spec: TaskSpec
  readonly state: TaskState
  /** From 1. */
  readonly run: number
  /** Starts of this run, interrupted ones included. */
  readonly attempts: number
  /** Of these, starts that were cut off by a death or stop of the server. */
  readonly interruptions: number
  /** Deaths of the server while this task alone was in quarantine; the third ends it. */
  readonly soloDeaths: number
  /** Was running when a server or shared thread died: from the second such death on it runs in quarantine. */
  readonly suspicions: number
  /** Due time of this run. */
  readonly dueTime: Instant
  /** When the next attempt may start: the due time, or the end of a back-off. */
  readonly notBefore: Instant
  readonly createTime: Instant
  /** Microseconds since 1970; 0 while not running. */
  readonly startTimeUs: number
  /** The fence: number of the newest start; 0 = never started. Only that attempt's ending is accepted. */
  readonly startId: number
  readonly paused: boolean
  readonly cancelRequested: boolean
  /** This run was started by RunNow. */
  readonly manual: boolean
  readonly lastError?: AttemptError
  readonly series?: Series
  /** A REPLACE that came while a run was open: holds from the next run on. */
  readonly replacement?: Replacement
  /** The last `request_id`, so that a repeated REPLACE is harmless. */
  readonly requestId: string
  /** When the task ended; 0 while live. */
  readonly endTime: Instant
}

/** A task that the store has not numbered yet. */
export type NewTask = Omit<Task, 'arrival'>

export const isLive = (state: TaskState): state is LiveState => state === 'scheduled' || state === 'running'
