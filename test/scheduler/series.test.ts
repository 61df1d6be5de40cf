import { describe, expect, it } from 'vitest'
import { failure } from '../support/outcomes.js'
import { taskOf } from '../support/scheduler-world.js'
import { MINUTE, SECOND } from '../support/series.js'
import { results, rule, skips, starts, worldWith } from '../support/series-world.js'
import { taskSpec } from '../support/task-specs.js'
import { NOW } from '../support/tasks.js'

describe('a series that runs', () => {
  it('C043, C148: never beside itself; skipped slots are counted', async () => {
    const world = await worldWith({ everyMs: SECOND }, 3_500)
    await world.clock.advance(19 * SECOND + 600)
    expect(starts(world)).toEqual([0, 4, 8, 12, 16].map((second) => second * SECOND))
    expect(world.running.size).toBe(0)
    const skipped = world.results('report').reduce((sum, { skippedCount }) => sum + skippedCount, 0)
    expect(skipped).toBe(20 - 5)
  })

  it('C045, C052: keeps to its grid exactly, however long runs take', async () => {
    const world = await worldWith({ everyMs: SECOND }, 300)
    await world.clock.advance(29 * SECOND)
    expect(starts(world)).toEqual(Array.from({ length: 30 }, (_, k) => k * SECOND))
    expect(world.results('report').map(({ dueTime }) => dueTime - NOW)).toEqual(starts(world).slice(0, -1))
  })

  it('goes on after failures, each run with a result and attempts of its own', async () => {
    const work = ({ run, attempt }: { run: number; attempt: number }): unknown =>
      run % 2 === 0 || attempt === 2 ? undefined : failure()
    const retry = { maxAttempts: 2, initialBackoffMs: 100, jitterRatio: 0 }
    const world = await worldWith({ everyMs: SECOND }, 0, { handlers: { work }, spec: { retry } })
    await world.clock.advance(3_500)
    expect(starts(world)).toEqual([0, 100, 1_000, 2_000, 2_100, 3_000])
    expect(world.results('report').map(({ run, attempts }) => [run, attempts])).toEqual([
      [1, 2],
      [2, 1],
      [3, 2],
      [4, 1],
    ])
  })

  it('waits for a slot, and what passes meanwhile is overlap', async () => {
    const world = await worldWith({ everyMs: SECOND }, 0, {
      handlers: { work: () => {}, long: (_, { sleep }) => sleep(3_500) },
      slots: { thread: 1 },
      spec: { when: { kind: 'after', delayMs: 1 } },
    })
    await world.schedule({ handler: 'long' })
    await world.clock.advance(5 * SECOND)
    expect(starts(world)).toEqual([3_500, 4_001])
    expect(skips(world)).toEqual(['run 2 skipped 3 (overlap) due 3001'])
  })

  it('of min_interval starts at least that far apart, and again as soon as it has ended', async () => {
    const quick = await worldWith({ minIntervalMs: 6 * SECOND }, 2 * SECOND)
    await quick.clock.advance(20 * SECOND)
    expect(starts(quick)).toEqual([0, 6, 12, 18].map((second) => second * SECOND))
    const slow = await worldWith({ minIntervalMs: SECOND }, 2 * SECOND)
    await slow.clock.advance(7 * SECOND)
    expect(starts(slow)).toEqual([0, 2, 4, 6].map((second) => second * SECOND))
  })

  it('of delay_after starts that long after its last end', async () => {
    const world = await worldWith({ delayAfterMs: SECOND }, 2 * SECOND)
    await world.clock.advance(7 * SECOND)
    expect(starts(world)).toEqual([0, 3, 6].map((second) => second * SECOND))
  })

  it('C004: whose next slot is months ahead does not run before', async () => {
    const world = await worldWith({ cron: '0 0 1 3 *' })
    await world.clock.advance(5 * SECOND)
    expect(starts(world)).toEqual([])
    expect(world.task('report').dueTime).toBe(Date.UTC(2030, 2, 1))
    await world.clock.advanceTo(Date.UTC(2030, 2, 1))
    expect(starts(world)).toEqual([Date.UTC(2030, 2, 1) - NOW])
  })
})

describe('a series that is changed', () => {
  it('C050: runs no more after a cancel, and another in its place keeps its own rhythm', async () => {
    const world = await worldWith({ everyMs: 3 * SECOND })
    await world.clock.advance(2 * SECOND)
    expect(taskOf(await world.cancel('report')).state).toBe('cancelled')
    await world.schedule({ ...rule({ everyMs: 5 * SECOND }), id: 'other' })
    await world.clock.advance(10 * SECOND)
    expect(starts(world)).toEqual([0])
    expect(world.startsOf('other').map(({ at }) => at - NOW)).toEqual([2_000, 7_000, 12_000])
    expect(world.results('report').map(({ outcome, last }) => [outcome, last])).toEqual([
      ['succeeded', false],
      ['cancelled', true],
    ])
  })

  it('runs by the new rule after the run that is open', async () => {
    const world = await worldWith({ everyMs: SECOND }, 400)
    await world.clock.advance(100)
    const spec = taskSpec(rule({ everyMs: MINUTE }))
    await world.one(world.scheduler.replace([{ spec, requestId: 'r' }]))
    await world.one(world.scheduler.replace([{ spec, requestId: 'r' }]))
    await world.clock.advance(2 * MINUTE)
    expect(starts(world)).toEqual([0, 400, MINUTE + 400])
  })

  it('is paused and goes on after the pause with the next slot', async () => {
    const world = await worldWith({ everyMs: SECOND })
    await world.clock.advance(500)
    await world.one(world.scheduler.pause(['report']))
    await world.clock.advance(4 * SECOND)
    await world.one(world.scheduler.resume(['report']))
    await world.clock.advance(SECOND)
    expect(starts(world)).toEqual([0, 5_000])
    expect(skips(world)).toEqual(['run 2 skipped 4 (paused) due 4000'])
  })

  it('runs beside its rhythm when asked to, never beside itself', async () => {
    const world = await worldWith({ everyMs: MINUTE }, 2 * SECOND)
    await world.clock.advance(SECOND)
    await world.one(world.scheduler.runNow(['report']))
    await world.one(world.scheduler.runNow(['report']))
    await world.clock.advance(30 * SECOND)
    await world.one(world.scheduler.runNow(['report']))
    await world.clock.advance(MINUTE)
    expect(starts(world)).toEqual([0, 2_000, 31_000, MINUTE])
    expect(world.results('report').map(({ manual }) => manual)).toEqual([false, true, true, false])
  })

  it('waits behind a concurrency key as one run; the slots meanwhile are overlap', async () => {
    const world = await worldWith({ everyMs: SECOND }, 0, {
      handlers: { work: () => {}, long: (_, { sleep }) => sleep(2_500) },
      spec: { concurrencyKey: 'k', when: { kind: 'after', delayMs: 600 } },
    })
    await world.schedule({ handler: 'long', concurrencyKey: 'k' })
    await world.clock.advance(3 * SECOND)
    expect(starts(world)).toEqual([2_500, 2_600])
    expect(skips(world)).toEqual(['run 2 skipped 1 (overlap) due 1600'])
  })

  it('keeps its open run when it is asked for one more: that is not missed', async () => {
    const world = await worldWith({ everyMs: SECOND, missed: 'skip' }, 0, {
      handlers: { work: () => {}, long: (_, { sleep }) => sleep(3_500) },
      slots: { thread: 1 },
      spec: { when: { kind: 'after', delayMs: 1 } },
    })
    await world.schedule({ handler: 'long' })
    await world.clock.advance(3_100)
    await world.one(world.scheduler.runNow(['report']))
    await world.clock.advance(450)
    expect(results(world)).toEqual([
      'run 1 succeeded due 1',
      'run 2 succeeded due 3500',
      'run 3 skipped 3 (overlap) due 3001',
    ])
  })
})
