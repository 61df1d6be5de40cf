import { describe, expect, it } from 'vitest'
import { SchedulerWorld } from '../support/scheduler-world.js'
import { HOUR, MINUTE, SECOND } from '../support/series.js'
import { results, rule, skips, starts, worldWith } from '../support/series-world.js'
import { NOW } from '../support/tasks.js'

describe('a series and a restart', () => {
  it('C047: has one catch-up run after a downtime, then its normal slots', async () => {
    const world = await worldWith({ everyMs: 2 * SECOND })
    await world.clock.advance(3 * SECOND)
    world.crash()
    await world.clock.advance(30 * SECOND)
    await world.start()
    await world.clock.advance(4 * SECOND)
    expect(starts(world)).toEqual([0, 2_000, 33_000, 34_000, 36_000])
    expect(skips(world)).toEqual(['run 3 skipped 14 (missed) due 30000'])
    const minutely = await worldWith({ cron: '* * * * *' })
    await minutely.clock.advance(MINUTE)
    minutely.crash()
    await minutely.clock.advance(3 * MINUTE + 5_000)
    await minutely.start()
    await minutely.clock.advance(MINUTE)
    expect(starts(minutely)).toEqual([MINUTE, 4 * MINUTE + 5_000, 5 * MINUTE])
  })

  it('C055: keeps its due time: it does not run at the start, nor later than it would have', async () => {
    const world = await worldWith({ everyMs: 10 * SECOND }, 0, {
      spec: { when: { kind: 'after', delayMs: 10 * SECOND } },
    })
    for (let i = 0; i < 4; i++) {
      await world.clock.advance(2_300)
      await world.restart()
    }
    await world.clock.advance(30 * SECOND)
    expect(starts(world)).toEqual([10, 20, 30].map((second) => second * SECOND))
  })

  it('C049: is one, however often it is scheduled again', async () => {
    const world = await worldWith({ everyMs: 2 * SECOND })
    for (let i = 0; i < 5; i++) {
      await world.restart()
      const again = await world.schedule({ ...rule({ everyMs: 2 * SECOND }) })
      expect(again.arrival).toBe(1)
      await world.clock.advance(2 * SECOND)
    }
    expect(starts(world)).toEqual([0, 2, 4, 6, 8, 10].map((second) => second * SECOND))
  })

  it('C086: goes on after each crash that catches it at work, and each run has one result', async () => {
    const world = await worldWith({ everyMs: 2 * SECOND }, SECOND)
    for (let i = 0; i < 5; i++) {
      await world.clock.advance(500)
      expect(world.running.size).toBe(1)
      await world.restart()
      await world.clock.advance(1_500)
    }
    const ends = world.results('report')
    expect(ends.map(({ run }) => run)).toEqual(ends.map((_, i) => i + 1))
    expect(ends.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(5)
    expect(ends.map(({ interruptions }) => interruptions)).toEqual([1, 1, 1, 1, 1])
  })

  it('catches up with every slot under RUN_ALL, even when crashes interrupt the catch-up', async () => {
    const world = await worldWith({ everyMs: SECOND, missed: 'runAll' }, 150)
    await world.clock.advance(500)
    world.crash()
    await world.clock.advance(10 * SECOND)
    await world.start()
    for (let i = 0; i < 5; i++) {
      await world.clock.advance(220)
      await world.restart()
    }
    await world.clock.advance(2 * SECOND)
    const done = world.results('report').filter(({ outcome }) => outcome === 'succeeded')
    expect(done.slice(0, 11).map(({ dueTime }) => dueTime - NOW)).toEqual(
      Array.from({ length: 11 }, (_, k) => k * SECOND),
    )
    expect(skips(world).every((text) => text.includes('overlap'))).toBe(true)
  })

  it('runs nothing that is too late by start_within, and lives on', async () => {
    const world = await worldWith({ everyMs: 10 * SECOND }, 0, { spec: { startWithinMs: 2 * SECOND } })
    await world.clock.advance(SECOND)
    world.crash()
    await world.clock.advance(25 * SECOND)
    await world.start()
    await world.clock.advance(5 * SECOND)
    expect(results(world).slice(1)).toEqual([
      'run 2 skipped 1 (missed) due 10000',
      'run 3 expired due 20000',
      'run 4 succeeded due 30000',
    ])
  })

  it('is still paused afterwards, and still owes the run that RunNow asked for', async () => {
    const world = await worldWith({ everyMs: MINUTE }, 10 * SECOND)
    await world.clock.advance(SECOND)
    await world.one(world.scheduler.runNow(['report']))
    await world.one(world.scheduler.pause(['report']))
    await world.stop(20 * SECOND)
    await world.start()
    await world.clock.advance(2 * MINUTE)
    expect(starts(world)).toEqual([0])
    await world.one(world.scheduler.resume(['report']))
    await world.clock.advance(15 * SECOND)
    expect(world.results('report').map(({ manual }) => manual)).toEqual([false, true, false])
    expect(skips(world)).toEqual(['run 3 skipped 2 (overlap) due 120000'])
  })
})

describe('a series and a step of the wall clock', () => {
  it('C009: every goes on within an interval; a cron slot never runs twice', async () => {
    const startTime = Date.UTC(2030, 0, 1, 12, 0, 10)
    const world = await SchedulerWorld.start({ startTime, handlers: { work: () => {} } })
    await world.schedule({ ...rule({ everyMs: 2 * SECOND }), id: 'interval' })
    await world.schedule(rule({ cron: '* * * * *' }))
    await world.clock.advance(175 * SECOND)
    const before = world.startsOf('interval').length
    await world.clock.step(-125 * SECOND)
    await world.clock.advance(2 * SECOND)
    expect(world.startsOf('interval').length).toBeGreaterThan(before)
    await world.clock.advance(180 * SECOND)
    const dues = world.results('report').map(({ dueTime }) => new Date(dueTime).toISOString().slice(11, 16))
    expect(dues).toEqual(['12:01', '12:02', '12:03', '12:04'])
  })

  it('C006: forward by hours makes one catch-up run at once, or as missed says', async () => {
    for (const [missed, expected] of [
      ['runOnce', 1],
      ['skip', 0],
      ['runAll', 6],
    ] as const) {
      const world = await worldWith({ cron: '0 * * * *', missed })
      await world.clock.advance(MINUTE)
      await world.clock.step(6 * HOUR)
      await world.clock.advance(SECOND)
      expect(starts(world)).toHaveLength(expected)
      await world.clock.advanceTo(NOW + 7 * HOUR)
      expect(starts(world).at(-1)).toBe(7 * HOUR)
    }
  })

  it('back by hours while a run is open does not put the next one off by them', async () => {
    const world = await worldWith({ everyMs: MINUTE }, 10 * SECOND)
    await world.clock.advance(5 * SECOND)
    await world.clock.step(-5 * HOUR)
    await world.clock.advance(2 * MINUTE + 10 * SECOND)
    expect(world.startsOf('report')).toHaveLength(3)
  })

  it('back by hours pulls in what waits in the store, too', async () => {
    const world = await worldWith({ everyMs: 10 * MINUTE })
    await world.clock.advance(SECOND)
    expect(world.scheduler.snapshot().near).toBe(0)
    await world.clock.step(-5 * HOUR)
    await world.clock.advance(10 * MINUTE + SECOND)
    expect(world.startsOf('report')).toHaveLength(2)
  })
})

describe('a year of a daily rule, with a restart every week', () => {
  it('runs 365 times, at its local time, on the nights of clock changes too', async () => {
    const world = await worldWith({ cron: '30 2 * * *', timeZone: 'America/New_York' })
    for (let week = 0; week < 53; week++) {
      await world.clock.advance(7 * 24 * HOUR)
      await world.restart()
    }
    const localTime = new Intl.DateTimeFormat('sv-SE', {
      timeZone: 'America/New_York',
      dateStyle: 'short',
      timeStyle: 'short',
    })
    const local = world.results('report').map(({ dueTime }) => localTime.format(dueTime))
    const year = local.filter((time) => time.startsWith('2030'))
    expect(year).toHaveLength(365)
    expect(new Set(year.map((time) => time.slice(0, 10))).size).toBe(365)
    expect(year.filter((time) => !time.endsWith('02:30'))).toEqual(['2030-03-10 03:30'])
    expect(skips(world)).toEqual([])
    expect(world.starts.every(({ at }, i) => at === world.results('report')[i]?.dueTime)).toBe(true)
  })
})

describe('a wall clock that was set back while the server was down', () => {
  it('does not put off a rhythm by as much', async () => {
    const world = await worldWith({ everyMs: 10 * SECOND })
    await world.clock.advance(15 * SECOND)
    world.crash()
    await world.clock.step(-5 * HOUR)
    await world.start()
    await world.clock.advance(10 * SECOND)
    expect(world.startsOf('report')).toHaveLength(3)
  })

  it('does not make a run that was cut off wait for its due time again', async () => {
    const world = await worldWith({ cron: '* * * * *' }, 30 * SECOND)
    await world.clock.advance(MINUTE + SECOND)
    await world.stop()
    await world.clock.step(-5 * HOUR)
    await world.start()
    expect(world.running.size).toBe(1)
  })

  it('leaves no task behind that is not due soon any more', async () => {
    const world = await worldWith({ cron: '* * * * * *' })
    await world.clock.step(-HOUR)
    world.crash()
    await world.start()
    await world.clock.advance(HOUR + 2 * SECOND)
    expect(world.startsOf('report')).toHaveLength(2)
  })
})
