import type { Clock } from '../clock.js'
import type { Instant } from '../task/instant.js'
import type { Log } from '../task/log.js'

/** What the watchdog can find. The words of `GetStats.findings`, of the metric and of docs/operations.md. */
export const FINDING_KINDS = [
  /** The event loop stood still: nothing was accepted, started or sent meanwhile. */
  'EVENT_LOOP_STALL',
  /** A timer fired late although the event loop ran. */
  'LATE_TIMER',
  /** Tasks are due and slots are free, and nothing starts. */
  'DISPATCH_STALL',
  /** The store does not commit, or does not answer. */
  'STORE_UNAVAILABLE',
  /** Due tasks wait for a handler that is not loaded. */
  'HANDLER_MISSING',
  /** A run that a recurrence should have had has not started. */
  'RUN_MISSING',
  /** An attempt is long past its time-out, and still has its slot. */
  'ATTEMPT_STUCK',
  /** Nobody reads for a durable consumer. */
  'CONSUMER_IDLE',
] as const

export type FindingKind = (typeof FINDING_KINDS)[number]

/** With these the server does not do its work; with the others it copes. */
const SERIOUS: ReadonlySet<FindingKind> = new Set(['DISPATCH_STALL', 'STORE_UNAVAILABLE', 'ATTEMPT_STUCK'])

/** Something wrong that the server itself has noticed. */
export interface Finding {
  readonly kind: FindingKind
  /** For people: what, where, what to do. */
  readonly message: string
  readonly since: Instant
}

/** What is over at once (a stall) stays visible for this long. */
const SHOWN_MS = 5 * 60_000
/** The same kind of what is over at once is logged once in this time. */
const LOGGED_EVERY_MS = 60_000
/** Findings that are kept at most: as many as anybody reads. */
const MAX_PRESENT = 100

interface Present extends Finding {
  /** On the steady clock; absent: until it is said to be over. */
  readonly until?: number
}

/** What has been found and is not over yet; logs each when it begins and when it ends, and counts them. */
export class Findings {
  readonly #clock: Clock
  readonly #log: Log
  readonly #present = new Map<string, Present>()
  readonly #counts = new Map<FindingKind, number>(FINDING_KINDS.map((kind) => [kind, 0]))
  readonly #loggedAt = new Map<FindingKind, number>()

  constructor(clock: Clock, log: Log) {
    this.#clock = clock
    this.#log = log
  }

  /**
   * It is so now. Told again, only its message is renewed.
   *
   * @param name - Tells it from others of its kind; '' when there can be only one.
   */
  isSo(kind: FindingKind, name: string, message: string, since = this.#clock.now()): void {
    const key = `${kind} ${name}`
    const known = this.#present.get(key)
    if (known?.until === undefined && known) {
      this.#present.set(key, { ...known, message })
      return
    }
    if (!known && this.#present.size >= MAX_PRESENT) return
    this.#present.set(key, { kind, message, since })
    this.#count(kind)
    const level = SERIOUS.has(kind) ? 'error' : 'warn'
    this.#log[level]('the watchdog has found something', { finding: kind, what: message })
  }

  /** It is not so, or not any more. */
  isOver(kind: FindingKind, name: string): void {
    const key = `${kind} ${name}`
    const known = this.#present.get(key)
    if (!known || known.until !== undefined) return
    this.#present.delete(key)
    const afterMs = this.#clock.now() - known.since
    this.#log.info('what the watchdog had found is over', { finding: kind, what: known.message, afterMs })
  }

  /** It was so for a moment and is over, by itself or healed. */
  was(kind: FindingKind, message: string): void {
    const steady = this.#clock.steady()
    const key = `${kind} for a moment`
    this.#present.set(key, { kind, message, since: this.#clock.now(), until: steady + SHOWN_MS })
    this.#count(kind)
    if (steady - (this.#loggedAt.get(kind) ?? -Infinity) < LOGGED_EVERY_MS) return
    this.#loggedAt.set(kind, steady)
    this.#log.warn('the watchdog has found something, and it is over', { finding: kind, what: message })
  }

  /** Of one kind, exactly these are so: by name, what is wrong and since when. */
  areExactly(
    kind: FindingKind,
    found: ReadonlyMap<string, { readonly message: string; readonly since?: Instant }>,
  ): void {
    for (const key of this.#present.keys()) {
      const name = key.slice(kind.length + 1)
      if (key.startsWith(`${kind} `) && !found.has(name)) this.isOver(kind, name)
    }
    for (const [name, { message, since }] of found) this.isSo(kind, name, message, since)
  }

  /** What is so now, and what was so a short while ago; the oldest first. */
  present(): readonly Finding[] {
    const steady = this.#clock.steady()
    for (const [key, { until = Infinity }] of this.#present) if (until <= steady) this.#present.delete(key)
    return [...this.#present.values()]
      .map(({ kind, message, since }) => ({ kind, message, since }))
      .toSorted((a, b) => a.since - b.since)
  }

  /** How often each kind was found since the start. */
  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }

  #count(kind: FindingKind): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
  }
}
