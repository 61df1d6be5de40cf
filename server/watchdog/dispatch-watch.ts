import type { Clock } from '../clock.js'
import type { Pulse } from '../scheduler/pulse.js'
import type { Findings } from './findings.js'

/** Nothing starts for this long although it could: the scheduler is told to look. */
const NUDGE_MS = 2_000

/** What it looks at. */
export interface Dispatching {
  pulse(): Pulse
  /** Forgets what it believed of the time and of the tasks on disk, and looks. */
  lookAnew(): void
}

/** Looks whether what could start does start. */
export class DispatchWatch {
  readonly #clock: Clock
  readonly #findings: Findings
  readonly #scheduler: Dispatching
  readonly #stallMs: number
  #starts = 0
  /** Since when something could start and nothing does, on the steady clock. */
  #since: number | undefined

  constructor(clock: Clock, findings: Findings, scheduler: Dispatching, stallMs: number) {
    this.#clock = clock
    this.#findings = findings
    this.#scheduler = scheduler
    this.#stallMs = stallMs
  }

  /** @returns whether dispatch stands still for so long that this server does not do its work. */
  look(): boolean {
    const { starts, startable, nextLook, isHeld } = this.#scheduler.pulse()
    const moved = starts !== this.#starts
    this.#starts = starts
    const steady = this.#clock.steady()
    const isLate = this.#clock.now() - nextLook >= NUDGE_MS
    if (moved || isHeld || (startable === 0 && !isLate)) {
      this.#moved(steady)
      return false
    }
    this.#since ??= steady
    const forMs = steady - this.#since
    if (forMs >= this.#stallMs) {
      const message = `nothing has started for ${seconds(forMs)} although ${tasks(startable)} due and slots are free: see the log for errors, restart the server if it lasts`
      this.#findings.isSo('DISPATCH_STALL', '', message, this.#clock.now() - forMs)
    }
    if (forMs >= NUDGE_MS) this.#scheduler.lookAnew()
    return forMs >= this.#stallMs
  }

  #moved(steady: number): void {
    const forMs = steady - (this.#since ?? steady)
    this.#since = undefined
    this.#findings.isOver('DISPATCH_STALL', '')
    if (forMs < NUDGE_MS || forMs >= this.#stallMs) return
    this.#findings.was(
      'DISPATCH_STALL',
      `nothing started for ${seconds(forMs)}; the scheduler was told to look, and goes on`,
    )
  }
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`
const tasks = (count: number): string => (count === 1 ? '1 task is' : `${count} tasks are`)
