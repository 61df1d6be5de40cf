import type { Clock } from '../../server/clock.js'

/** A clock whose timers fire as soon as what is happening now is over: for stores whose commits shall take no time. */
export const immediateClock = (now: () => number): Clock => ({
  now,
  nowMicros: () => now() * 1_000,
  steady: now,
  setTimer: (_, fn) => {
    queueMicrotask(fn)
    return { cancel() {} }
  },
  setAlarm: () => ({ cancel() {} }),
})
