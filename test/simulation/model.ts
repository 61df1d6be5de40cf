import type { Slot } from '../../server/task/recurrence/slots.js'
import { failsAt, type Plan, workMsOf } from './plan.js'
import { Rhythm } from './rhythm.js'
import { type Ended, freshSeries, type Told, withLast } from './told.js'

/** One limit of the rules, said once more. */
const CATCH_UP_RUNS = 1_000

/** What should happen to one task that never has to wait for a slot, in the plainest way. It shares nothing with the server but "which slot comes after this one?". */
export class Model {
  results: Told[] = []
  readonly starts: string[] = []
  state: 'waiting' | 'running' | Ended = 'waiting'
  readonly #id: string
  #plan: Plan
  #replacement: { readonly plan: Plan; readonly due: number } | undefined
  isUp = true
  #isPaused = false
  #steady: number
  // the current run
  #run = 1
  #attempts = 0
  #interruptions = 0
  #isManual = false
  #due = 0
  #notBefore = 0
  /** By the steady clock. */
  #endsAt = 0
  // the series
  #rhythm: Rhythm | undefined
  #slot: Slot = { slot: 0, due: 0, mark: 'normal' }
  #series = freshSeries()
  #attemptStart = 0

  constructor(id: string, plan: Plan, now: number, steady: number) {
    this.#id = id
    this.#plan = plan
    this.#steady = steady
    this.#begin(plan, now, now + plan.delayMs)
  }

  get isLive(): boolean {
    return ['waiting', 'running'].includes(this.state)
  }

  /** Time passes up to `steady`; the wall clock is `offset` ahead of it. */
  pass(steady: number, offset: number): void {
    for (let at = this.#nextEvent(offset); at <= steady; at = this.#nextEvent(offset)) {
      this.#steady = at
      if (this.state === 'running') this.#endAttempt(at + offset)
      else this.#look(at + offset)
    }
    this.#steady = steady
  }

  /** What runs is cut off, and goes on where it was. */
  stop(now: number): void {
    this.isUp = false
    if (this.state !== 'running') return
    this.state = 'waiting'
    this.#notBefore = Math.min(this.#notBefore, now)
    this.#interruptions++
  }

  setBack(now: number): void {
    if (this.state !== 'waiting') return
    if (this.#attempts > 0) {
      this.#notBefore = Math.min(this.#notBefore, this.#failures > 0 ? now + this.#plan.backoffMs : now)
    } else if (this.#isManual) {
      this.#due = Math.min(this.#due, now)
      this.#notBefore = this.#due
    } else if (this.#rhythm) {
      const { slot } = this.#slot
      this.#slot = this.#rhythm.pulledIn(this.#slot, now)
      if (this.#slot.slot === slot) return
      this.#series.owedThrough = -Infinity
      this.#waitFor(this.#slot)
    }
  }

  pause(now: number): void {
    if (!this.isLive || this.#isPaused) return
    this.#isPaused = true
    if (this.#due <= now) this.#series.owedThrough = Math.max(this.#series.owedThrough, this.#slot.slot)
  }

  resume(now: number): void {
    if (!this.isLive || !this.#isPaused) return
    this.#isPaused = false
    const isOpen = this.state === 'running' || this.#attempts > 0 || this.#isManual || this.#isOwed
    if (isOpen || !this.#rhythm?.isGrid || this.#due > now) return
    this.#skip(this.#rhythm.through(this.#slot, now), 'paused')
    this.#goOn(now)
  }

  runNow(now: number): void {
    if (!this.isLive) return
    const hasBegun = this.state === 'running' || this.#attempts > 0
    if (!this.#rhythm) {
      if (this.state === 'running' || this.#notBefore <= now) return
      this.#isManual = true
      this.#due = Math.min(this.#due, now)
      this.#notBefore = now
    } else if (hasBegun || (this.#notBefore <= now && !this.#isManual)) this.#series.manualWaits = true
    else if (!this.#isManual) {
      this.#slot = { ...this.#slot, slot: this.#slot.slot - 1 }
      this.#wait(now, true)
    }
  }

  cancel(): void {
    this.#replacement = undefined
    if (this.isLive) this.#endRun('cancelled', 0)
  }

  replace(plan: Plan, now: number): void {
    if (this.state === 'running') this.#replacement = { plan, due: now + plan.delayMs }
    else {
      this.#replacement = undefined
      if (this.state !== 'waiting') this.#reopen()
      this.#begin(plan, now, now + plan.delayMs)
    }
  }

  retry(now: number): void {
    if (this.isLive || this.state === 'succeeded') return
    const passed = this.#rhythm?.through(this.#slot, now).at(-1)
    this.#slot = passed ?? { ...this.#slot, slot: this.#slot.slot - 1 }
    this.#series.owedThrough = -Infinity
    this.#series.manualWaits = false
    this.#reopen()
    this.#wait(now, this.#rhythm !== undefined)
  }

  #nextEvent(offset: number): number {
    if (!this.isUp) return Infinity
    if (this.state === 'running') return this.#endsAt
    return this.state === 'waiting' && !this.#isPaused
      ? Math.max(this.#steady, this.#notBefore - offset)
      : Infinity
  }

  get #isOwed(): boolean {
    return this.#series.owedThrough >= this.#slot.slot
  }

  /** Of this run; what was cut off does not count. */
  get #failures(): number {
    return this.#attempts - this.#interruptions
  }

  #reopen(): void {
    this.#run++
    this.#isPaused = false
  }

  /** @returns whether the plan has any run. */
  #begin(plan: Plan, now: number, due: number): boolean {
    const { recurrence } = plan
    this.#plan = plan
    this.#rhythm = recurrence && new Rhythm(this.#id, recurrence, now, due)
    const first = this.#rhythm?.first()
    if (this.#rhythm && !first) return false
    if (first) this.#slot = first
    this.#series = freshSeries()
    this.#wait(first?.due ?? due, false)
    return true
  }

  #wait(due: number, isManual: boolean): void {
    this.state = 'waiting'
    this.#attempts = 0
    this.#interruptions = 0
    this.#isManual = isManual
    this.#due = due
    this.#notBefore = due
  }

  #look(now: number): void {
    const { startWithinMs = Infinity } = this.#plan
    if (this.#attempts === 0 && !this.#isManual && this.#rhythm?.isGrid && this.#hasMissed(this.#rhythm, now))
      return
    if (this.#attempts === 0 && now > this.#due + startWithinMs) return this.#endRun('expired', now)
    this.#attempts++
    this.#attemptStart = now
    this.state = 'running'
    this.#endsAt = this.#steady + workMsOf(this.#plan, this.#run, this.#attempts)
    this.starts.push(`run ${this.#run} attempt ${this.#attempts} at ${now}`)
  }

  /** @returns whether the run that waited is not to start as it is. */
  #hasMissed(rhythm: Rhythm, now: number): boolean {
    const passed = this.#isOwed ? [this.#slot] : rhythm.through(this.#slot, now)
    const real = passed.filter(isReal)
    const [oldest] = real.slice(-CATCH_UP_RUNS)
    const newest = real.at(-1)
    if (real.length === 1 && newest === this.#slot) return false
    const missed = 'missed' in rhythm.recurrence ? rhythm.recurrence.missed : 'runOnce'
    const run = real.length <= 1 || missed === 'runOnce' ? newest : missed === 'runAll' ? oldest : undefined
    if (run && run !== newest) this.#series.owedThrough = newest?.slot ?? -Infinity
    this.#skip(run ? passed.filter(({ slot }) => slot < run.slot) : passed, 'missed')
    if (run) this.#waitFor(run)
    else this.#goOn(now)
    return true
  }

  #endAttempt(now: number): void {
    const failed = failsAt(this.#plan, this.#run, this.#attempts)
    if (!failed || this.#failures >= this.#plan.maxAttempts)
      return this.#endRun(failed ? 'failed' : 'succeeded', now)
    this.state = 'waiting'
    this.#notBefore = now + this.#plan.backoffMs
  }

  #endRun(outcome: Ended, now: number): void {
    this.#tell(outcome, this.#due, '', this.#isManual)
    if (this.#attempts > 0) {
      this.#series.startedRuns += this.#isManual ? 0 : 1
      this.#series.lastStart = this.#attemptStart
      this.#series.lastState = outcome
    } else if (!this.#isManual) this.#series.lastStart = this.#due
    const replacement = this.#replacement
    this.#replacement = undefined
    if (replacement) {
      this.#run++
      if (!this.#begin(replacement.plan, now, Math.max(now, replacement.due))) this.#end(outcome)
    } else if (outcome === 'cancelled' || !this.#rhythm) this.#end(outcome)
    else {
      this.#run++
      this.#afterRun(this.#rhythm, now)
    }
  }

  #afterRun(rhythm: Rhythm, now: number): void {
    const { recurrence } = rhythm
    if (this.#series.manualWaits) return this.#goOn(now)
    if (this.#series.startedRuns >= (recurrence.maxRuns ?? Infinity)) return this.#end(this.#series.lastState)
    const next = rhythm.after(this.#slot.slot, { lastStart: this.#series.lastStart, lastEnd: now })
    if (next && next.slot <= Math.min(this.#series.owedThrough, now)) return this.#waitFor(next)
    const passed = rhythm.through(next, now - 1)
    const queues = 'overlap' in recurrence && recurrence.overlap === 'queueOne'
    const queued = queues ? passed.findLast(isReal) : undefined
    this.#skip(queued ? passed.filter(({ slot }) => slot < queued.slot) : passed, 'overlap')
    if (queued) this.#waitFor(queued)
    else this.#goOn(now)
  }

  /** Goes on after the current slot, with the run that was asked for or the next slot; else the series ends. */
  #goOn(now: number): void {
    const next = this.#rhythm?.after(this.#slot.slot, { lastStart: this.#series.lastStart, lastEnd: now })
    if (this.#series.manualWaits) {
      this.#series.manualWaits = false
      this.#wait(now, true)
    } else if (!next || !this.#rhythm) this.#end(this.#series.lastState)
    else {
      const slot = this.#rhythm.pulledIn(next, now)
      if (slot !== next) this.#series.owedThrough = -Infinity
      this.#waitFor(slot)
    }
  }

  #waitFor(slot: Slot): void {
    this.#slot = slot
    this.#wait(slot.due, false)
  }

  /** Slots that do not run: those that clock changes left out, and the others. Each kind is a run of its own. */
  #skip(slots: readonly Slot[], reason: string): void {
    for (const [why, stretch] of [
      ['dstGap', slots.filter((slot) => !isReal(slot))],
      [reason, slots.filter(isReal)],
    ] as const) {
      const newest = stretch.at(-1)
      if (!newest) continue
      this.#wait(newest.due, false)
      this.#tell('skipped', newest.due, `${stretch.length} ${why}`, false)
      this.#run++
    }
    this.#slot = slots.at(-1) ?? this.#slot
  }

  #end(state: Ended): void {
    this.state = state
    this.results = withLast(this.results)
    this.#run = this.results.at(-1)?.run ?? 1
  }

  #tell(outcome: string, due: number, skipped: string, manual: boolean): void {
    const run = this.#run
    this.results.push({ run, outcome, attempts: this.#attempts, due, skipped, manual, last: false })
  }
}

const isReal = ({ mark }: Slot): boolean => mark !== 'skipped'
