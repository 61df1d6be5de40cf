import { describe, expect, it } from 'vitest'
import { WatchedWorld } from '../support/watched-world.js'

const MINUTE = 60_000

describe('an event loop that stands still', () => {
  it('is found as soon as it turns again, with how long it stood', async () => {
    const { clock, watchdog, ...watched } = await WatchedWorld.start()
    await clock.advance(5_000)
    expect(watchdog.findings()).toEqual([])
    clock.timersLateMs = 3_000
    clock.alarmsLateMs = 3_000
    await clock.advance(1_000)
    clock.timersLateMs = 0
    clock.alarmsLateMs = 0
    await clock.advance(4_000)
    const [finding] = watchdog.findings()
    expect(finding).toMatchObject({
      kind: 'EVENT_LOOP_STALL',
      message: expect.stringContaining('3000 ms') as string,
    })
    expect(watchdog.counts()['EVENT_LOOP_STALL']).toBe(1)
    expect(watched.logged).toEqual([
      'warn EVENT_LOOP_STALL: the watchdog has found something, and it is over',
    ])
  })

  it('is shown for five minutes, then no more; the count stays', async () => {
    const watched = await WatchedWorld.start()
    const { clock } = watched
    clock.timersLateMs = 3_000
    clock.alarmsLateMs = 3_000
    await clock.advance(1_000)
    clock.timersLateMs = 0
    clock.alarmsLateMs = 0
    await clock.advance(4 * MINUTE)
    expect(watched.kinds()).toEqual(['EVENT_LOOP_STALL'])
    await clock.advance(2 * MINUTE)
    expect(watched.kinds()).toEqual([])
    expect(watched.watchdog.counts()['EVENT_LOOP_STALL']).toBe(1)
  })

  it('again and again is counted each time, and logged once a minute', async () => {
    const { clock, watchdog, logged } = await WatchedWorld.start()
    clock.timersLateMs = 2_000
    clock.alarmsLateMs = 2_000
    await clock.advance(1_000 + 3_000 * 30)
    expect(watchdog.counts()['EVENT_LOOP_STALL']).toBe(30)
    expect(logged).toHaveLength(2)
  })

  it('by less than half a second is a busy machine', async () => {
    const { clock, watchdog } = await WatchedWorld.start()
    clock.timersLateMs = 400
    clock.alarmsLateMs = 400
    await clock.advance(MINUTE)
    expect(watchdog.findings()).toEqual([])
  })
})

describe('an alarm that fires late', () => {
  it.each([
    ['late', 5_000],
    ['never', Infinity],
  ])(
    '%s, although the loop turns, is found; what hung on it starts all the same',
    async (_, alarmsLateMs) => {
      const watched = await WatchedWorld.start()
      const { clock, world } = watched
      clock.alarmsLateMs = alarmsLateMs
      const { spec, dueTime } = await world.schedule({ when: { kind: 'after', delayMs: 10_000 } })
      await clock.advance(20_000)
      expect(watched.kinds()).toEqual(['LATE_TIMER'])
      const [start] = world.startsOf(spec.id)
      expect(start?.at).toBeGreaterThanOrEqual(dueTime)
      expect(start?.at).toBeLessThanOrEqual(dueTime + 3_000)
    },
  )

  it('in time is nothing to be found', async () => {
    const { clock, watchdog } = await WatchedWorld.start()
    await clock.advance(10 * MINUTE)
    expect(watchdog.findings()).toEqual([])
    expect(Object.values(watchdog.counts()).every((count) => count === 0)).toBe(true)
  })

  it('because the wall clock was set is not late', async () => {
    const { clock, watchdog } = await WatchedWorld.start()
    await clock.advance(5_000)
    await clock.step(3_600_000)
    await clock.advance(5_000)
    await clock.step(-7_200_000)
    await clock.advance(5_000)
    expect(watchdog.findings()).toEqual([])
  })
})
