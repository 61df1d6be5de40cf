import type { Clock, Timer } from '../clock.js'
import type { Findings } from './findings.js'

/** Timers that are late by less than this are a busy machine. */
const LATE_MS = 500

/** Looks whether time passes as it should: the event loop turns, and timers fire when they were asked to. */
export class TimeWatch {
  readonly #clock: Clock
  readonly #findings: Findings
  readonly #heal: () => void
  /** When the next look was to be, on the steady clock. */
  #lookAt = Infinity
  #alarm: Timer | undefined
  /** When the alarm that is set was to fire, on the steady clock. */
  #alarmAt = Infinity

  /** @param heal - What hangs on timers may have been late as well: wakes it. */
  constructor(clock: Clock, findings: Findings, heal: () => void) {
    this.#clock = clock
    this.#findings = findings
    this.#heal = heal
  }

  /** @param nextInMs - When the timer of the next look will fire. */
  look(nextInMs: number): void {
    const steady = this.#clock.steady()
    const lateMs = steady - this.#lookAt
    const alarmLateMs = steady - this.#alarmAt
    this.#lookAt = steady + nextInMs
    if (lateMs >= LATE_MS) this.#loopStood(lateMs)
    else if (alarmLateMs >= LATE_MS) this.#timerWasLate(alarmLateMs)
    // after a stall of the loop the alarm is as late as everything was: a new one tells more
    if (this.#alarmAt === Infinity || lateMs >= LATE_MS || alarmLateMs >= LATE_MS) this.#setAlarm(nextInMs)
  }

  stop(): void {
    this.#alarm?.cancel()
    this.#lookAt = Infinity
    this.#alarmAt = Infinity
  }

  #loopStood(lateMs: number): void {
    const message = `the event loop stood still for ${Math.round(lateMs)} ms: the process was stopped, or the machine is overloaded`
    this.#findings.was('EVENT_LOOP_STALL', message)
    this.#heal()
  }

  #timerWasLate(lateMs: number): void {
    const message = `a timer is ${Math.round(lateMs)} ms late, although the event loop turns; the scheduler was told to look`
    this.#findings.was('LATE_TIMER', message)
    this.#heal()
  }

  #setAlarm(inMs: number): void {
    this.#alarm?.cancel()
    const alarmAt = this.#clock.steady() + inMs
    this.#alarmAt = alarmAt
    this.#alarm = this.#clock.setAlarm(this.#clock.now() + inMs, () => {
      this.#alarmAt = Infinity
      const lateMs = this.#clock.steady() - alarmAt
      // when the loop stood still, the look that follows says so
      if (lateMs >= LATE_MS && this.#clock.steady() - this.#lookAt < LATE_MS) this.#timerWasLate(lateMs)
    })
  }
}
