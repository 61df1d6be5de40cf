import type { Instant } from '../../task/instant.js'
import type { ResultOutcome } from '../../task/result.js'
import { BytesIn } from './bytes-in.js'
import type { BytesOut } from './bytes-out.js'
import { ENTRY, endedTask, KIND, readEntry, writeEntry, writeOutline } from './log-entry-codec.js'
import { outcomeOf } from './numbers.js'
import { payloadHash } from './payload-hash.js'

/** What is remembered of a task with its id, up to this size whole; of a larger one the input becomes a hash. */
const REMEMBERED_BYTES = 768

/** What becomes of an entry. `outline`: its task is remembered, its result is not. */
export type Fate = 'whole' | 'outline' | 'gone'

export interface FateRules {
  readonly now: Instant
  /** Results that were committed before this go, by their outcome. */
  readonly before: Readonly<Record<ResultOutcome, Instant>>
  /** Which results go before their time because all of them take too many bytes. */
  readonly pressed: 'none' | 'but failed' | 'all'
}

/** An entry as far as retention looks at it, without unpacking it. */
export interface PurgedEntry {
  readonly kind: number
  readonly outcome: ResultOutcome
  readonly arrival: number
  readonly run: number
  /** 0: its task has not ended with it. */
  readonly rememberUntil: Instant
  readonly id: string
}

/** Outcomes that somebody may still have to deal with. */
const FAILED: ReadonlySet<ResultOutcome> = new Set(['failed', 'timedOut', 'expired'])

export function lookAt(entry: Uint8Array): PurgedEntry {
  const from = new BytesIn(entry, ENTRY.kind)
  return {
    kind: from.u8(),
    outcome: outcomeOf(from.u8()),
    arrival: from.f64(),
    run: from.f64(),
    rememberUntil: from.f64(),
    id: from.text(1),
  }
}

/** @param isEnd - Whether its task ended with it and has not been opened again. */
export function fateOf(entry: PurgedEntry, committed: Instant, isEnd: boolean, rules: FateRules): Fate {
  // an attempt is found by nobody once its stretch of the log cannot be read
  if (entry.kind === KIND.result && !mustGo(entry.outcome, committed, rules)) return 'whole'
  return isEnd && entry.rememberUntil > rules.now ? 'outline' : 'gone'
}

function mustGo(outcome: ResultOutcome, committed: Instant, { before, pressed }: FateRules): boolean {
  if (committed < before[outcome] || pressed === 'all') return true
  return pressed === 'but failed' && !FAILED.has(outcome)
}

/** When the fate of an entry that is kept is to be looked at again. */
export function nextLook(entry: PurgedEntry, fate: Fate, committed: Instant, rules: FateRules): Instant {
  if (fate === 'outline') return entry.rememberUntil
  return committed + (rules.now - rules.before[entry.outcome]) + 1
}

/** Writes what is left of an entry. */
export function writeLeft(out: BytesOut, entry: Uint8Array, fate: Exclude<Fate, 'gone'>): void {
  if (fate === 'whole' || entry[ENTRY.kind] === KIND.outline) {
    out.bytes(entry)
    return
  }
  const stored = readEntry(entry)
  if (stored.task.length <= REMEMBERED_BYTES) {
    writeOutline(out, entry)
    return
  }
  const task = endedTask(stored)
  const { spec } = task
  const payload =
    spec.payload.kind === 'none'
      ? spec.payload
      : ({ kind: 'forgotten', hash: payloadHash(spec.payload) } as const)
  const start = out.length
  writeEntry(out, { ...stored, bytes: new Uint8Array(0) }, stored.arrival, {
    ...task,
    spec: { ...spec, payload },
  })
  out.setU8(start + ENTRY.kind, KIND.outline)
  out.setU32(start + ENTRY.offset, stored.offset)
}
