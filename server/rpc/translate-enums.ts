import { CancelStage, Outcome, ResultKind, SkipReason } from '../../proto/generated/punctual/v1/result.js'
import {
  BlockedReason,
  DstGapPolicy,
  DstOverlapPolicy,
  MissedPolicy,
  OverlapPolicy,
  TaskState,
} from '../../proto/generated/punctual/v1/task.js'
import type { BlockedReason as Blocked } from '../admission/scheduler-face.js'
import type { Violation } from '../task/errors.js'
import type { StopStage } from '../task/outcome.js'
import type {
  DstGapPolicy as DstGap,
  DstOverlapPolicy as DstOverlap,
  MissedPolicy as Missed,
  OverlapPolicy as Overlap,
} from '../task/recurrence/recurrence.js'
import type { ResultOutcome, SkipReason as Skip, TaskResult } from '../task/result.js'
import type { TaskState as State } from '../task/task.js'

/** Words of the domain and their numbers on the wire; a new word does not compile without its number. */
export const STATES = {
  scheduled: TaskState.SCHEDULED,
  running: TaskState.RUNNING,
  succeeded: TaskState.SUCCEEDED,
  failed: TaskState.FAILED,
  cancelled: TaskState.CANCELLED,
  expired: TaskState.EXPIRED,
} as const satisfies Record<State, TaskState>

export const OUTCOMES = {
  succeeded: Outcome.SUCCEEDED,
  failed: Outcome.FAILED,
  timedOut: Outcome.TIMED_OUT,
  cancelled: Outcome.CANCELLED,
  expired: Outcome.EXPIRED,
  skipped: Outcome.SKIPPED,
} as const satisfies Record<ResultOutcome, Outcome>

export const RESULT_KINDS = {
  result: ResultKind.RESULT,
  attempt: ResultKind.ATTEMPT,
} as const satisfies Record<TaskResult['kind'], ResultKind>

export const SKIP_REASONS = {
  overlap: SkipReason.OVERLAP,
  missed: SkipReason.MISSED,
  paused: SkipReason.PAUSED,
  dstGap: SkipReason.DST_GAP,
} as const satisfies Record<Skip, SkipReason>

export const CANCEL_STAGES = {
  neverStarted: CancelStage.NEVER_STARTED,
  cooperative: CancelStage.COOPERATIVE,
  terminated: CancelStage.TERMINATED,
} as const satisfies Record<StopStage, CancelStage>

export const BLOCKED_REASONS = {
  handlerMissing: BlockedReason.HANDLER_MISSING,
  concurrencyKey: BlockedReason.CONCURRENCY_KEY,
  handlerLimit: BlockedReason.HANDLER_LIMIT,
  paused: BlockedReason.PAUSED,
} as const satisfies Record<Blocked, BlockedReason>

export const OVERLAP = {
  skip: OverlapPolicy.SKIP,
  queueOne: OverlapPolicy.QUEUE_ONE,
} as const satisfies Record<Overlap, OverlapPolicy>

export const MISSED = {
  runOnce: MissedPolicy.RUN_ONCE,
  runAll: MissedPolicy.RUN_ALL,
  skip: MissedPolicy.SKIP,
} as const satisfies Record<Missed, MissedPolicy>

export const DST_GAP = {
  shift: DstGapPolicy.SHIFT,
  skip: DstGapPolicy.SKIP,
} as const satisfies Record<DstGap, DstGapPolicy>

export const DST_OVERLAP = {
  first: DstOverlapPolicy.FIRST,
  last: DstOverlapPolicy.LAST,
  both: DstOverlapPolicy.BOTH,
} as const satisfies Record<DstOverlap, DstOverlapPolicy>

/** Adds a violation for a choice that this server does not know: a newer client's. */
export function checkChoice(
  choices: Readonly<Record<string, number>>,
  chosen: number,
  field: string,
  found: Violation[],
): void {
  if (chosen >= 0 && Object.values(choices).includes(chosen)) return
  found.push({ field, description: `${chosen} is no value that this server knows` })
}

/**
 * The word for a number from the wire.
 *
 * @returns undefined for a number without a word: 0 = unspecified, else from a newer client.
 * @example wordOf(STATES, 2) // 'running'
 */
export function wordOf<Word extends string>(
  numbers: Readonly<Record<Word, number>>,
  wanted: number,
): Word | undefined {
  for (const word in numbers) if (numbers[word] === wanted) return word
  return undefined
}
