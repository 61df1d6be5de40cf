import { describe, expect, it } from 'vitest'
import { systemClock } from '../../server/clock.js'

const reached = (at: number): Promise<void> =>
  new Promise((resolve) => {
    // it may come early: whoever waits looks again
    const look = (): void => {
      if (systemClock.now() >= at) resolve()
      else systemClock.setAlarm(at, look)
    }
    systemClock.setAlarm(at, look)
  })

describe("the machine's clock", () => {
  it('reaches an instant, whole seconds away or already past', async () => {
    const start = systemClock.now()
    await Promise.all([reached(start + 1_300), reached(start - 5_000)])
    expect(systemClock.now() - start).toBeGreaterThanOrEqual(1_300)
    expect(systemClock.now() - start).toBeLessThan(10_000)
  })

  it('C001: has no alarm or timer for a day weeks ahead come at once', async () => {
    const called: string[] = []
    const far = 25 * 86_400_000
    const timer = systemClock.setTimer(far, () => called.push('timer'))
    const alarm = systemClock.setAlarm(systemClock.now() + far, () => called.push('alarm'))
    const never = systemClock.setAlarm(Infinity, () => called.push('never'))
    await reached(systemClock.now() + 1_500)
    expect(called).toEqual([])
    for (const each of [timer, alarm, never]) each.cancel()
  })

  it('C005: never calls a timer before its time, although the timers of Node come early', async () => {
    const early = await Promise.all(
      Array.from(
        { length: 500 },
        (_, i) =>
          new Promise<number>((resolve) => {
            const delayMs = 1 + (i % 40) + Math.random()
            const start = systemClock.steady()
            systemClock.setTimer(delayMs, () => resolve(start + delayMs - systemClock.steady()))
          }),
      ),
    )
    expect(Math.max(...early)).toBeLessThanOrEqual(0)
  })

  it('gives microseconds that agree with its milliseconds', () => {
    for (let i = 0; i < 1_000; i++) {
      const before = systemClock.now()
      const micros = systemClock.nowMicros()
      const after = systemClock.now()
      expect(micros).toBeGreaterThanOrEqual(before * 1_000)
      expect(micros).toBeLessThan((after + 1) * 1_000)
    }
  })
})
