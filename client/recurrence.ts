import {
  DstGapPolicy,
  DstOverlapPolicy,
  MissedPolicy,
  OverlapPolicy,
  Recurrence as RecurrenceMessage,
} from '../proto/generated/punctual/v1/task.js'
import { DstMark, type DueTime as DueTimeMessage } from '../proto/generated/punctual/v1/scheduler_service.js'
import { durationMs, toDate, toDuration, toTimestamp } from './wire-time.js'

/** The rule of a recurring task: exactly one of these. */
export type RecurrenceRule =
  /** A cron expression of 5 fields, or 6 with seconds first, in an IANA zone (default UTC). */
  | { readonly cron: string; readonly timeZone?: string }
  /** Fixed rate: run k is due at first + k × this, exactly. At least 100. */
  | { readonly everyMs: number }
  /** The next run is due as soon as this one ends, starts at least this far apart. At least 100. */
  | { readonly minIntervalMs: number }
  /** The next run is due this long after this one ended. At least 100. */
  | { readonly delayAfterMs: number }

/** How a task repeats. Runs of one task never overlap. `client.preview()` shows what a rule means before it is used. */
export type Recurrence = RecurrenceRule & {
  /** Ends the series after this many started runs; no limit when left out. */
  readonly maxRuns?: number
  /** No run is due after this instant. */
  readonly until?: Date
  /** Moves each due time later by up to this; the grid does not move. Below half the interval. */
  readonly jitterMs?: number
  /** A slot that passes while a run is open. Default 'skip'. */
  readonly overlap?: 'skip' | 'queueOne'
  /** Slots that passed while nothing could run. Default 'runOnce'. */
  readonly missed?: 'runOnce' | 'runAll' | 'skip'
  /** A local time that does not exist because clocks went forward. Default 'shift'. */
  readonly dstGap?: 'shift' | 'skip'
  /** A local time that comes twice because clocks went back. Default 'first'. */
  readonly dstOverlap?: 'first' | 'last' | 'both'
}

/** One due time of a recurrence. */
export interface PreviewedDueTime {
  readonly dueTime: Date
  /** The same in the rule's zone, such as 2027-03-14T03:30:00-04:00. */
  readonly localTime: string
  /** What a clock change did to it: nothing; moved forward; this run will be skipped; it comes twice. */
  readonly mark: 'normal' | 'shifted' | 'skipped' | 'doubled'
}

const OVERLAP = { skip: OverlapPolicy.SKIP, queueOne: OverlapPolicy.QUEUE_ONE }
const MISSED = { runOnce: MissedPolicy.RUN_ONCE, runAll: MissedPolicy.RUN_ALL, skip: MissedPolicy.SKIP }
const DST_GAP = { shift: DstGapPolicy.SHIFT, skip: DstGapPolicy.SKIP }
const DST_OVERLAP = {
  first: DstOverlapPolicy.FIRST,
  last: DstOverlapPolicy.LAST,
  both: DstOverlapPolicy.BOTH,
}

/**
 * A recurrence as the wire has it. What the rule itself may be is the server's to say.
 *
 * @throws RangeError when a time is not a time, or a policy is none of the choices.
 */
export function toRecurrenceMessage(given: Recurrence): RecurrenceMessage {
  const message = RecurrenceMessage.create({})
  message.rule = ruleOf(given)
  message.timeZone = 'timeZone' in given ? (given.timeZone ?? '') : ''
  if (given.maxRuns !== undefined) {
    if (!Number.isSafeInteger(given.maxRuns)) {
      throw new RangeError(`recurrence.maxRuns must be a whole number, got ${given.maxRuns}`)
    }
    message.maxRuns = BigInt(given.maxRuns)
  }
  if (given.until !== undefined) message.until = toTimestamp(given.until, 'recurrence.until')
  if (given.jitterMs !== undefined) message.jitter = toDuration(given.jitterMs, 'recurrence.jitterMs')
  if (given.overlap !== undefined) message.overlap = choice(OVERLAP, given.overlap, 'overlap')
  if (given.missed !== undefined) message.missed = choice(MISSED, given.missed, 'missed')
  if (given.dstGap !== undefined) message.dstGap = choice(DST_GAP, given.dstGap, 'dstGap')
  if (given.dstOverlap !== undefined) {
    message.dstOverlap = choice(DST_OVERLAP, given.dstOverlap, 'dstOverlap')
  }
  return message
}

/** A stored recurrence as the client shows it; nothing for nothing, or for a rule of a newer server. */
export function fromRecurrenceMessage(message: RecurrenceMessage | undefined): Recurrence | undefined {
  const rule = message && shownRule(message)
  if (message === undefined || rule === undefined) return undefined
  const overlap = chosen(OVERLAP, message.overlap)
  const missed = chosen(MISSED, message.missed)
  const dstGap = chosen(DST_GAP, message.dstGap)
  const dstOverlap = chosen(DST_OVERLAP, message.dstOverlap)
  const jitterMs = durationMs(message.jitter)
  return {
    ...rule,
    ...(message.maxRuns !== undefined && { maxRuns: Number(message.maxRuns) }),
    ...(message.until && { until: toDate(message.until) }),
    ...(jitterMs !== undefined && { jitterMs }),
    ...(overlap && { overlap }),
    ...(missed && { missed }),
    ...(dstGap && { dstGap }),
    ...(dstOverlap && { dstOverlap }),
  }
}

const MARKS: Partial<Record<DstMark, PreviewedDueTime['mark']>> = {
  [DstMark.SHIFTED]: 'shifted',
  [DstMark.SKIPPED]: 'skipped',
  [DstMark.DOUBLED]: 'doubled',
}

/** One line of a preview. */
export function toPreviewedDueTime({ dueTime, localTime, mark }: DueTimeMessage): PreviewedDueTime {
  return {
    dueTime: toDate(dueTime ?? { seconds: 0n, nanos: 0 }),
    localTime,
    mark: MARKS[mark] ?? 'normal',
  }
}

function ruleOf(given: Recurrence): NonNullable<RecurrenceMessage['rule']> {
  const said = ['cron', 'everyMs', 'minIntervalMs', 'delayAfterMs'].filter(
    (name) => (given as Record<string, unknown>)[name] !== undefined,
  )
  if (said.length !== 1) {
    throw new RangeError(
      `recurrence needs exactly one of cron, everyMs, minIntervalMs, delayAfterMs; got ${said.join(' and ') || 'none'}`,
    )
  }
  if ('cron' in given) return { $case: 'cron', value: given.cron }
  if ('everyMs' in given) return { $case: 'every', value: toDuration(given.everyMs, 'recurrence.everyMs') }
  if ('minIntervalMs' in given) {
    return { $case: 'minInterval', value: toDuration(given.minIntervalMs, 'recurrence.minIntervalMs') }
  }
  return { $case: 'delayAfter', value: toDuration(given.delayAfterMs, 'recurrence.delayAfterMs') }
}

function shownRule({ rule, timeZone }: RecurrenceMessage): RecurrenceRule | undefined {
  switch (rule?.$case) {
    case 'cron':
      return { cron: rule.value, timeZone: timeZone === '' ? 'UTC' : timeZone }
    case 'every':
      return { everyMs: durationMs(rule.value) ?? 0 }
    case 'minInterval':
      return { minIntervalMs: durationMs(rule.value) ?? 0 }
    case 'delayAfter':
      return { delayAfterMs: durationMs(rule.value) ?? 0 }
    case undefined:
      return undefined
  }
}

/** @throws RangeError naming the choices: a plain JavaScript caller has no compiler to say so. */
function choice<Name extends string, Value>(
  choices: Readonly<Record<Name, Value>>,
  name: Name,
  option: string,
): Value {
  if (Object.hasOwn(choices, name)) return choices[name]
  throw new RangeError(`recurrence.${option} must be one of ${Object.keys(choices).join(', ')}; got ${name}`)
}

function chosen<Name extends string>(
  choices: Readonly<Record<Name, number>>,
  value: number,
): Name | undefined {
  return (Object.keys(choices) as Name[]).find((name) => choices[name] === value)
}
