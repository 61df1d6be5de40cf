import type { Instant } from '../task/instant.js'
import type { AttemptOutcome } from '../task/outcome.js'
import type { SpanRecord } from '../task/span-record.js'
import type { Labels, Payload } from '../task/task-spec.js'

/** `thread`: one attempt a thread at a time, can be stopped by force. `shared`: many waiting attempts in one thread, can only be asked to stop. */
export type Lane = 'thread' | 'shared'
export const LANES: readonly Lane[] = ['thread', 'shared']

/** Members of a burst at most. */
export const MAX_BURST = 1_024

/** One attempt to run. `startId` names it everywhere. */
export interface AttemptRequest {
  readonly startId: number
  readonly taskId: string
  readonly handler: string
  readonly run: number
  /** From 1. */
  readonly attempt: number
  readonly payload: Payload
  /** Counted from the start of the handler, on the steady clock; 0 = no limit. */
  readonly timeoutMs: number
  readonly dueTime: Instant
  /** When this attempt could start at the earliest: the due time, or the end of a back-off. */
  readonly notBefore: Instant
  /** When the task was accepted: where the first wait of its trace begins. */
  readonly createTime: Instant
  readonly labels: Labels
  /** Trace context: the task's own, as it is given to an executor; the parent of the handler's spans, as it reaches the thread. '' = not traced. */
  readonly traceparent: string
  readonly tracestate: string
  /** In quarantine: a thread of its own, and a burst of its own. */
  readonly alone: boolean
}

export interface AttemptEnd {
  readonly startId: number
  readonly outcome: AttemptOutcome
  /** Microseconds since 1970. */
  readonly startTimeUs: number
  readonly endTimeUs: number
  readonly workerId: string
  /** Shared lane: given up after its grace, but its handler still runs. Slot, task and key stay held until `released` names it. */
  readonly lingering?: true
  /** Trace of this attempt, when it was not that of the request: a retry or later run is a trace of its own. */
  readonly traceId?: string
}

/** What the executor tells. Each attempt is told of as: began, then ended; or returned, if it never began. */
export interface ExecutorEvents {
  /** Handlers began, at these microseconds since 1970. */
  began(
    starts: readonly { readonly startId: number; readonly startTimeUs: number; readonly workerId: string }[],
  ): void
  /** Attempts ended. The slot of a burst is free when all its members have ended or are returned, except for those that are `lingering`. */
  ended(ends: readonly AttemptEnd[]): void
  /** Members of a burst that never began because their thread died: they go back uncounted. */
  returned(startIds: readonly number[]): void
  /** A shared attempt that had its outcome before (stopped after its grace) has really ended: its slot is free only now. */
  released(startIds: readonly number[]): void
  /** What handlers traced in their threads. An attempt's records are told before its end. Absent: nobody traces. */
  spans?(records: readonly SpanRecord[]): void
}

/** Runs attempts. Each promise is proved by `test/executor/executor-contract.ts`. */
export interface Executor {
  /** Attempts that may run at once in each lane. */
  readonly slots: Readonly<Record<Lane, number>>
  /** Sets who is told. Called once, before `start`. */
  listen(events: ExecutorEvents): void
  /**
   * Runs attempts of one handler one after another in one slot of `lane`: a burst, of at most MAX_BURST. Never waits in a queue: the caller knows that the slot
   * is free. Tells nothing before it has returned.
   */
  start(lane: Lane, burst: readonly AttemptRequest[]): void
  /**
   * Stops an attempt: a burst member that has not begun never begins and is told as ended (cancelled, neverStarted); a running one is signalled and,
   * after `graceMs` of the steady clock, its thread is terminated and replaced (shared: given up, its slot held until it really ends). Unknown: false.
   */
  stop(startId: number, graceMs: number): boolean
  /** Waits for nothing: running attempts end as interrupted. Idempotent; nothing starts after it: what is given then is told as returned. */
  close(): Promise<void>
}
