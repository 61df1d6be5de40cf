import { describe, expect, it } from 'vitest'
import { NO_PAYLOAD } from '../../server/task/task-spec.js'
import { failure } from '../support/outcomes.js'
import { HOUR, MINUTE, SECOND, SeriesStory, waitsFor } from '../support/series.js'

describe('the next run', () => {
  it('of every is on the grid of the first, whenever a run started and ended', () => {
    const story = new SeriesStory({ everyMs: SECOND })
    story.run(7, 993)
    expect(story.task).toMatchObject(waitsFor(2, SECOND))
    story.run(SECOND + 400, SECOND + 999)
    expect(story.task).toMatchObject(waitsFor(3, 2 * SECOND))
    expect(story.told).toEqual(['run 1 succeeded due 0', 'run 2 succeeded due 1000'])
  })

  it('is there after a failed one: a failure does not end a series', () => {
    const story = new SeriesStory({ everyMs: SECOND })
    story.run(0, 100, failure())
    expect(story.task).toMatchObject(waitsFor(2, SECOND))
    expect(story.told).toEqual(['run 1 failed due 0'])
  })

  it('of min_interval is due when the last ended, or an interval after its start if that is later', () => {
    const quick = new SeriesStory({ minIntervalMs: 6 * SECOND }).run(1_000, 3_000)
    expect(quick.task).toMatchObject(waitsFor(2, 7_000))
    const slow = new SeriesStory({ minIntervalMs: 2 * SECOND }).run(1_000, 5_000)
    expect(slow.task).toMatchObject(waitsFor(2, 5_000))
  })

  it('of delay_after is due a delay after the last ended', () => {
    const story = new SeriesStory({ delayAfterMs: 2 * SECOND }).run(1_000, 5_000)
    expect(story.task).toMatchObject(waitsFor(2, 7_000))
  })

  it('of an interval counts from the end of a retried run', () => {
    const retry = { maxAttempts: 2, initialBackoffMs: 10_000, jitterRatio: 0 }
    const story = new SeriesStory({ delayAfterMs: SECOND }, { retry })
    story.run(0, 500, failure())
    expect(story.task).toMatchObject({ run: 1, attempts: 1 })
    story.run(10_500, 11_000)
    expect(story.task).toMatchObject(waitsFor(2, 12_000))
  })
})

describe('overlap SKIP', () => {
  it('skips the slots that pass while a run is open: one result says how many', () => {
    const story = new SeriesStory({ everyMs: SECOND })
    story.run(0, 3_500)
    expect(story.told).toEqual(['run 1 succeeded due 0', 'run 2 skipped 3 (overlap) due 3000'])
    expect(story.task).toMatchObject(waitsFor(3, 4_000))
  })

  it('does not touch a slot at the instant of the end: that one is in time', () => {
    const story = new SeriesStory({ everyMs: SECOND }).run(0, 1_000)
    expect(story.task).toMatchObject(waitsFor(2, 1_000))
    expect(story.look(1_000)).toBe(true)
  })

  it('judges by when the run ended, not by when that was heard: the slot in between is only late', () => {
    const story = new SeriesStory({ everyMs: SECOND }).begin(0)
    story.end(999, { kind: 'succeeded', output: NO_PAYLOAD }, 1_400)
    expect(story.task).toMatchObject(waitsFor(2, 1_000))
    expect(story.look(1_400)).toBe(true)
  })

  it('counts the time that a run waited for its start', () => {
    const story = new SeriesStory({ everyMs: SECOND })
    expect(story.look(0)).toBe(true)
    story.run(2_500, 2_600)
    expect(story.told).toEqual(['run 1 succeeded due 0', 'run 2 skipped 2 (overlap) due 2000'])
  })

  it('counts the time that a run spent backing off', () => {
    const retry = { maxAttempts: 2, initialBackoffMs: 4_000, jitterRatio: 0 }
    const story = new SeriesStory({ everyMs: SECOND }, { retry })
    story.run(0, 100, failure())
    expect(story.look(4_100)).toBe(true)
    story.run(4_100, 4_200)
    expect(story.told.slice(1)).toEqual(['run 1 succeeded due 0', 'run 2 skipped 4 (overlap) due 4000'])
    expect(story.task).toMatchObject(waitsFor(3, 5_000))
  })

  it('is the same for cron', () => {
    const story = new SeriesStory({ cron: '* * * * *' })
    expect(story.due).toBe(MINUTE)
    story.run(MINUTE, 3 * MINUTE + 1)
    expect(story.told).toEqual(['run 1 succeeded due 60000', 'run 2 skipped 2 (overlap) due 180000'])
    expect(story.task).toMatchObject(waitsFor(3, 4 * MINUTE))
  })

  it('counts a year of seconds at once', () => {
    const story = new SeriesStory({ cron: '* * * * * *' })
    story.run(SECOND, SECOND + 365 * 24 * HOUR + 1)
    expect(story.results[1]).toMatchObject({ skippedCount: 31_536_000, skipReason: 'overlap' })
    expect(story.task.run).toBe(3)
  })
})

describe('overlap QUEUE_ONE', () => {
  const queueOne = { everyMs: SECOND, overlap: 'queueOne' } as const

  it('runs the newest slot that passed, and skips those before it', () => {
    const story = new SeriesStory(queueOne).run(0, 3_500)
    expect(story.told).toEqual(['run 1 succeeded due 0', 'run 2 skipped 2 (overlap) due 2000'])
    expect(story.task).toMatchObject(waitsFor(3, 3_000))
    story.run(3_500, 3_600)
    expect(story.task).toMatchObject(waitsFor(4, 4_000))
  })

  it('skips nothing when one slot has passed', () => {
    const story = new SeriesStory(queueOne).run(0, 1_500)
    expect(story.told).toEqual(['run 1 succeeded due 0'])
    expect(story.task).toMatchObject(waitsFor(2, 1_000))
  })

  it('queues for a run that waits or backs off, too', () => {
    const story = new SeriesStory(queueOne)
    story.look(0)
    story.run(2_200, 2_300, failure())
    expect(story.told).toEqual(['run 1 failed due 0', 'run 2 skipped 1 (overlap) due 1000'])
    expect(story.task).toMatchObject(waitsFor(3, 2_000))
  })

  it('never lets the queued run make the missed policy skip it', () => {
    const story = new SeriesStory({ ...queueOne, missed: 'skip' }).run(0, 1_500)
    expect(story.look(1_501)).toBe(true)
  })
})
