import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../testing/virtual-clock.js'

const START = Date.UTC(2030, 0, 1)

describe('a virtual clock', () => {
  it('stands still until it is told to go on', async () => {
    const clock = new VirtualClock()
    await clock.settle()
    expect([clock.now(), clock.nowMicros(), clock.steady()]).toEqual([START, START * 1_000, 0])
    await clock.advance(1_500)
    expect([clock.now(), clock.nowMicros(), clock.steady()]).toEqual([
      START + 1_500,
      (START + 1_500) * 1_000,
      1_500,
    ])
  })

  it('stops at each instant that falls due, in order, those of one instant as they were set', async () => {
    const clock = new VirtualClock()
    const seen: [string, number][] = []
    const see = (name: string) => () => void seen.push([name, clock.steady()])
    clock.setTimer(20, see('b'))
    clock.setTimer(10, see('a'))
    clock.setAlarm(START + 20, see('c'))
    clock.setTimer(21, see('never'))
    await clock.advance(20)
    expect(seen).toEqual([
      ['a', 10],
      ['b', 20],
      ['c', 20],
    ])
  })

  it('lets what follows from a timer happen before time goes on', async () => {
    const clock = new VirtualClock()
    const seen: number[] = []
    const chain = async (left: number): Promise<void> => {
      // what a store or an executor in the same process does: some turns of the event loop later
      await new Promise<void>((resolve) => setImmediate(resolve))
      seen.push(clock.now() - START)
      if (left > 0) await chain(left - 1)
    }
    clock.setTimer(10, () => void chain(50))
    clock.setTimer(11, () => void seen.push(-1))
    await clock.advance(20)
    expect(seen).toEqual([...Array<number>(51).fill(10), -1])
  })

  it('calls timers that are set while time passes', async () => {
    const clock = new VirtualClock()
    const seen: number[] = []
    const again = (): void => {
      seen.push(clock.steady())
      if (seen.length < 5) clock.setTimer(7, again)
    }
    clock.setTimer(7, again)
    clock.setTimer(0, () => clock.setTimer(0, () => seen.push(0)))
    await clock.advance(100)
    expect(seen).toEqual([0, 7, 14, 21, 28])
  })

  it('calls nothing that was cancelled, and cancelling twice is harmless', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    const timer = clock.setTimer(10, () => seen.push('timer'))
    const other = clock.setTimer(10, () => timer.cancel())
    clock.setAlarm(START + 10, () => seen.push('alarm')).cancel()
    other.cancel()
    timer.cancel()
    timer.cancel()
    await clock.advance(100)
    expect(seen).toEqual([])
  })

  it('advances to an instant, and never back', async () => {
    const clock = new VirtualClock({ startTime: 1_000 })
    await clock.advanceTo(5_000)
    await clock.advanceTo(2_000)
    expect(clock.now()).toBe(5_000)
  })

  it('that is set moves the wall alone, and tells whoever waits for an instant', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    clock.setTimer(1_000, () => seen.push('timer'))
    clock.setAlarm(START + 3_600_000, () => seen.push('alarm'))
    await clock.step(-500)
    expect([clock.now(), clock.steady(), seen]).toEqual([START - 500, 0, ['alarm']])
    clock.setAlarm(START, () => seen.push('again'))
    await clock.advance(499)
    expect(seen).toEqual(['alarm'])
    await clock.advance(1)
    expect(seen).toEqual(['alarm', 'again'])
    await clock.advance(500)
    expect(seen).toEqual(['alarm', 'again', 'timer'])
  })

  it('passes a year of daily alarms in a moment', async () => {
    const clock = new VirtualClock()
    let days = 0
    const daily = (): void => {
      days++
      clock.setAlarm(clock.now() + 86_400_000, daily)
    }
    clock.setAlarm(START + 86_400_000, daily)
    await clock.advance(365 * 86_400_000)
    expect(days).toBe(365)
  })

  it.each([-1, NaN, Infinity])('refuses a delay of %d', (delayMs) => {
    expect(() => new VirtualClock().setTimer(delayMs, () => {})).toThrow(RangeError)
  })
})
