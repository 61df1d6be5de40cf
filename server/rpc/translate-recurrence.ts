import type { Recurrence as WireRecurrence } from '../../proto/generated/punctual/v1/task.js'
import type { Violation } from '../task/errors.js'
import type { Recurrence, RecurrenceInput } from '../task/recurrence/recurrence.js'
import { completeRecurrence, validateRecurrence } from '../task/recurrence/validate-recurrence.js'
import { DST_GAP, DST_OVERLAP, MISSED, OVERLAP, wordOf } from './translate-enums.js'
import { fromInstant, fromMs, toInstant, toMs } from './translate-time.js'

/** @returns undefined, and what is wrong in `found`, when it is no valid recurrence. */
export function toRecurrence(wire: WireRecurrence, path: string, found: Violation[]): Recurrence | undefined {
  const before = found.length
  const input: RecurrenceInput = {
    ...toRule(wire, path, found),
    timeZone: wire.timeZone === '' ? undefined : wire.timeZone,
    maxRuns: wire.maxRuns === undefined ? undefined : Number(wire.maxRuns),
    until: wire.until && toInstant(wire.until, `${path}.until`, found, 'down'),
    jitterMs: wire.jitter && toMs(wire.jitter, `${path}.jitter`, found, 'refused'),
    overlap: toPolicy(OVERLAP, wire.overlap, `${path}.overlap`, found),
    missed: toPolicy(MISSED, wire.missed, `${path}.missed`, found),
    dstGap: toPolicy(DST_GAP, wire.dstGap, `${path}.dst_gap`, found),
    dstOverlap: toPolicy(DST_OVERLAP, wire.dstOverlap, `${path}.dst_overlap`, found),
  }
  // a rule whose time could not be read is there, although it is not in the input
  const unread = found.some(({ field }) => /\.(?:every|min_interval|delay_after)$/.test(field))
  found.push(...validateRecurrence(input, path).filter(({ field }) => !(unread && field === path)))
  return found.length === before ? completeRecurrence(input) : undefined
}

function toRule({ rule }: WireRecurrence, path: string, found: Violation[]): RecurrenceInput {
  if (rule === undefined) return {}
  if (rule.$case === 'cron') return { cron: rule.value }
  const [key, name] = INTERVALS[rule.$case]
  return { [key]: toMs(rule.value, `${path}.${name}`, found, 'refused') }
}

const INTERVALS = {
  every: ['everyMs', 'every'],
  minInterval: ['minIntervalMs', 'min_interval'],
  delayAfter: ['delayAfterMs', 'delay_after'],
} as const

function toPolicy<Word extends string>(
  words: Readonly<Record<Word, number>>,
  wire: number,
  field: string,
  found: Violation[],
): Word | undefined {
  const word = wordOf(words, wire)
  if (word === undefined && wire !== 0)
    found.push({ field, description: `${wire} is no value that this server knows` })
  return word
}

export function fromRecurrence(recurrence: Recurrence): WireRecurrence {
  const cron = recurrence.kind === 'cron' ? recurrence : undefined
  const slots = recurrence.kind === 'cron' || recurrence.kind === 'every' ? recurrence : undefined
  return {
    rule: fromRule(recurrence),
    timeZone: cron?.timeZone ?? '',
    maxRuns: recurrence.maxRuns === undefined ? undefined : BigInt(recurrence.maxRuns),
    until: recurrence.until === undefined ? undefined : fromInstant(recurrence.until),
    jitter: recurrence.jitterMs === undefined ? undefined : fromMs(recurrence.jitterMs),
    overlap: slots ? OVERLAP[slots.overlap] : 0,
    missed: slots ? MISSED[slots.missed] : 0,
    dstGap: cron ? DST_GAP[cron.dstGap] : 0,
    dstOverlap: cron ? DST_OVERLAP[cron.dstOverlap] : 0,
  }
}

function fromRule(recurrence: Recurrence): WireRecurrence['rule'] {
  if (recurrence.kind === 'cron') return { $case: 'cron', value: recurrence.expression }
  const ms = recurrence.kind === 'delayAfter' ? recurrence.delayMs : recurrence.intervalMs
  return { $case: recurrence.kind, value: fromMs(ms) }
}
