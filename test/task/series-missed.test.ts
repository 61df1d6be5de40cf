import { describe, expect, it } from 'vitest'
import { expire, isExpired } from '../../server/task/requests.js'
import { DAY, MINUTE, SECOND, SeriesStory, waitsFor } from '../support/series.js'
import { NOW } from '../support/tasks.js'

/** The server was down from 0.5 s to 30.5 s, on a grid of 2 s whose first run had ended. */
function afterDowntime(missed: 'runOnce' | 'runAll' | 'skip' | undefined, rest: object = {}): SeriesStory {
  const story = new SeriesStory({ everyMs: 2 * SECOND, ...(missed && { missed }), ...rest })
  return story.run(0, 100)
}

describe('slots that passed with no run open', () => {
  it('by RUN_ONCE, the default, make one run, due at the newest of them (C047)', () => {
    const story = afterDowntime(undefined)
    expect(story.look(30_500)).toBe(false)
    expect(story.told.slice(1)).toEqual(['run 2 skipped 14 (missed) due 28000'])
    expect(story.task).toMatchObject(waitsFor(3, 30_000))
    expect(story.look(30_500)).toBe(true)
    story.run(30_500, 30_600)
    expect(story.task).toMatchObject(waitsFor(4, 32_000))
  })

  it('by SKIP make no run', () => {
    const story = afterDowntime('skip')
    expect(story.look(30_500)).toBe(false)
    expect(story.told.slice(1)).toEqual(['run 2 skipped 15 (missed) due 30000'])
    expect(story.task).toMatchObject(waitsFor(3, 32_000))
  })

  it('by RUN_ALL all run, one after another, each with its own due time', () => {
    const story = afterDowntime('runAll')
    story.look(30_500)
    const dues: number[] = []
    for (let now = 30_500; story.due <= 30_000; now += 50) {
      expect(story.look(now)).toBe(true)
      dues.push(story.due)
      story.run(now, now + 50)
    }
    expect(dues).toEqual(Array.from({ length: 15 }, (_, i) => (i + 1) * 2_000))
    expect(story.told.some((text) => text.includes('skipped'))).toBe(false)
    expect(story.task).toMatchObject(waitsFor(17, 32_000))
    expect(story.series).not.toHaveProperty('owedThrough')
  })

  it('by RUN_ALL make at most 1,000 runs, of the newest; the rest is one SKIPPED', () => {
    const story = afterDowntime('runAll')
    story.look(DAY)
    // 43,200 slots of 2 s a day, the one in this millisecond included
    expect(story.told.slice(1)).toEqual([`run 2 skipped 42200 (missed) due ${DAY - 2_000 * 1_000}`])
    expect(story.task).toMatchObject(waitsFor(3, DAY - 999 * 2_000))
    let runs = 0
    for (let now = DAY; story.due <= DAY; now++, runs++) {
      expect(story.look(now)).toBe(true)
      story.run(now)
    }
    expect(runs).toBe(1_000)
    expect(story.results).toHaveLength(1 + 1 + 1_000)
  })

  it('are one and the same with a single late one: it runs late, whatever the policy', () => {
    for (const missed of ['runOnce', 'runAll', 'skip'] as const) {
      expect(afterDowntime(missed).look(3_999)).toBe(true)
    }
  })

  it('are judged alike for the first run of all', () => {
    const story = new SeriesStory({ cron: '* * * * *' })
    story.look(3 * MINUTE + 5)
    expect(story.told).toEqual(['run 1 skipped 2 (missed) due 120000'])
    expect(story.task).toMatchObject(waitsFor(2, 3 * MINUTE))
  })

  it('are none where the rule, by newer zone data, no longer has the slot that waits: it starts', () => {
    const story = new SeriesStory({ cron: '* * * * *' })
    const series = { ...story.series, slot: story.series.slot + 500 }
    story.task = { ...story.task, dueTime: series.slot, notBefore: series.slot, series }
    expect(story.look(MINUTE + 500)).toBe(true)
    expect(story.results).toEqual([])
  })

  it('do not exist for min_interval and delay_after: the run that waited comes late', () => {
    expect(new SeriesStory({ minIntervalMs: SECOND }).look(DAY)).toBe(true)
    expect(new SeriesStory({ delayAfterMs: SECOND }).look(DAY)).toBe(true)
  })

  it('count no slot twice where jitter has not let the newest fall due', () => {
    const story = new SeriesStory({ everyMs: MINUTE, jitterMs: 20 * SECOND })
    story.run(story.due)
    const [second] = [story.due]
    const late = new SeriesStory({ everyMs: MINUTE, jitterMs: 20 * SECOND })
    late.look(second - 1)
    expect(late.results).toEqual([])
    late.look(second)
    expect(late.told).toEqual([expect.stringMatching(/^run 1 skipped 1 \(missed\)/)])
    expect(late.due).toBe(second)
  })
})

describe('slots that pass during a catch-up', () => {
  it('are overlap: RUN_ALL promises only what had passed when it began', () => {
    const story = afterDowntime('runAll')
    story.look(6_500)
    story.run(6_500, 8_600)
    story.run(8_600, 8_700)
    expect(story.due).toBe(6_000)
    story.run(8_700, 8_800)
    expect(story.told.slice(-2)).toEqual(['run 4 succeeded due 6000', 'run 5 skipped 1 (overlap) due 8000'])
    expect(story.task).toMatchObject(waitsFor(6, 10_000))
  })

  it('do not take the place of what RUN_ALL still owes, not even after another downtime', () => {
    const story = afterDowntime('runAll')
    story.look(6_500)
    story.run(6_500, 6_600)
    expect(story.due).toBe(4_000)
    expect(story.look(60_000)).toBe(true)
    story.run(60_000, 60_100)
    expect(story.due).toBe(6_000)
    // the very last that is owed, too
    expect(story.look(60_100)).toBe(true)
    story.run(60_100, 60_200)
    expect(story.told.slice(-2)).toEqual(['run 4 succeeded due 6000', 'run 5 skipped 27 (overlap) due 60000'])
  })
})

describe('start_within', () => {
  const spec = { startWithinMs: 5_000 }

  it('is applied after missed, to the due time of the catch-up run', () => {
    const story = new SeriesStory({ everyMs: 2 * SECOND }, spec).run(0, 100)
    story.look(30_500)
    expect(story.due).toBe(30_000)
    expect(isExpired(story.task, NOW + 30_500)).toBe(false)
    expect(isExpired(story.task, NOW + 35_001)).toBe(true)
  })

  it('ends a run, not the series', () => {
    const story = new SeriesStory({ everyMs: MINUTE }, spec).run(0, 100)
    story.take(expire(story.task, NOW + MINUTE + 5_001))
    expect(story.told.slice(1)).toEqual(['run 2 expired due 60000'])
    expect(story.task).toMatchObject(waitsFor(3, 2 * MINUTE))
  })

  it('keeps runs of min_interval apart even when they expire: no hot loop', () => {
    const story = new SeriesStory({ minIntervalMs: SECOND }, { startWithinMs: 0 })
    story.take(expire(story.task, NOW + 1))
    expect(story.task).toMatchObject(waitsFor(2, SECOND))
  })
})
