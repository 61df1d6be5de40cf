import type { Clock } from '../../server/clock.js'

/** A clock that stands still until it is moved; its timers are told by hand. */
export class FixedClock implements Clock {
  micros: number
  readonly timers: { readonly delayMs: number; readonly fn: () => void; cancelled: boolean }[] = []

  constructor(now: number) {
    this.micros = now * 1_000
  }

  now(): number {
    return Math.floor(this.micros / 1_000)
  }

  nowMicros(): number {
    return this.micros
  }

  steady(): number {
    return this.micros / 1_000
  }

  setTimer(delayMs: number, fn: () => void) {
    const timer = { delayMs, fn, cancelled: false }
    this.timers.push(timer)
    return { cancel: () => void (timer.cancelled = true) }
  }

  setAlarm(at: number, fn: () => void) {
    return this.setTimer(at - this.now(), fn)
  }
}
