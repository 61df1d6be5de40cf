import { describe, expect, it } from 'vitest'
import { expire, pause, resume, runNow } from '../../server/task/requests.js'
import { failure } from '../support/outcomes.js'
import { HOUR, MINUTE, SECOND, SeriesStory, waitsFor } from '../support/series.js'
import { NOW } from '../support/tasks.js'

const ask = (story: SeriesStory, at: number): SeriesStory => {
  story.take(runNow(story.task, NOW + at))
  return story
}

describe('RunNow of a series that waits', () => {
  it('starts at once and takes the next number; the slot that was waited for comes as it would have', () => {
    const story = ask(new SeriesStory({ everyMs: MINUTE }).run(0, 10), 5 * SECOND)
    expect(story.task).toMatchObject({ ...waitsFor(2, 5 * SECOND), manual: true })
    story.run(5 * SECOND, 6 * SECOND)
    expect(story.results.at(-1)).toMatchObject({ run: 2, manual: true, outcome: 'succeeded' })
    expect(story.task).toMatchObject({ ...waitsFor(3, MINUTE), manual: false })
  })

  it('moves neither the first slot nor the grid', () => {
    const when = { kind: 'after', delayMs: HOUR } as const
    for (const rule of [{ everyMs: MINUTE }, { minIntervalMs: MINUTE }, { delayAfterMs: MINUTE }]) {
      const story = ask(new SeriesStory(rule, { when }), 5 * SECOND).run(5 * SECOND, 6 * SECOND)
      expect(story.task).toMatchObject(waitsFor(2, HOUR))
    }
  })

  it('skips the slots that pass while it runs, as any open run does', () => {
    const story = ask(new SeriesStory({ everyMs: MINUTE }).run(0, 10), MINUTE - SECOND)
    story.run(MINUTE - SECOND, 2 * MINUTE + SECOND)
    expect(story.told.slice(1)).toEqual(['run 2 succeeded due 59000', 'run 3 skipped 2 (overlap) due 120000'])
    expect(story.task).toMatchObject(waitsFor(4, 3 * MINUTE))
  })

  it('keeps starts of min_interval apart, and runs of delay_after', () => {
    const apart = ask(new SeriesStory({ minIntervalMs: MINUTE }).run(0, 10), 50 * SECOND)
    apart.run(50 * SECOND, 51 * SECOND)
    expect(apart.task).toMatchObject(waitsFor(3, 110 * SECOND))
    const after = ask(new SeriesStory({ delayAfterMs: MINUTE }).run(0, 10), 50 * SECOND)
    after.run(50 * SECOND, 51 * SECOND)
    expect(after.task).toMatchObject(waitsFor(3, 111 * SECOND))
  })

  it('is not counted by missed: it starts, however late', () => {
    const story = ask(new SeriesStory({ everyMs: SECOND, missed: 'skip' }).run(0, 10), 500)
    expect(story.look(60 * SECOND)).toBe(true)
  })

  it('once asked, is not asked twice', () => {
    const story = ask(new SeriesStory({ everyMs: MINUTE }).run(0, 10), 5 * SECOND)
    expect(runNow(story.task, NOW + 6 * SECOND)).toBeUndefined()
  })

  it('that expires before it starts leaves the rhythm as it was', () => {
    const when = { kind: 'after', delayMs: HOUR } as const
    const story = ask(new SeriesStory({ minIntervalMs: MINUTE }, { when, startWithinMs: 0 }), SECOND)
    story.take(expire(story.task, NOW + SECOND + 1))
    expect(story.task).toMatchObject(waitsFor(2, HOUR))
  })
})

describe('RunNow of a series with an open run', () => {
  it('waits for its result, and runs then: never beside it', () => {
    const story = ask(new SeriesStory({ everyMs: MINUTE }).begin(0), 500)
    expect(story.task).toMatchObject({ state: 'running', manual: false })
    story.end(SECOND)
    expect(story.task).toMatchObject({ ...waitsFor(2, SECOND), manual: true })
    story.run(SECOND, 2 * SECOND)
    expect(story.told).toEqual(['run 1 succeeded due 0', 'run 2 succeeded due 1000'])
    expect(story.task).toMatchObject({ ...waitsFor(3, MINUTE), manual: false })
  })

  it('waits once, however often it is asked for', () => {
    const story = ask(new SeriesStory({ everyMs: MINUTE }).begin(0), 500)
    expect(runNow(story.task, NOW + 600)).toBeUndefined()
  })

  it('waits behind a run that is due and behind one that backs off', () => {
    const retry = { maxAttempts: 2, initialBackoffMs: 10_000, jitterRatio: 0 }
    const due = ask(new SeriesStory({ everyMs: MINUTE }), 0)
    expect(due.task).toMatchObject({ manual: false, series: { manualWaits: true } })
    const backingOff = ask(new SeriesStory({ everyMs: MINUTE }, { retry }).run(0, 10, failure()), SECOND)
    expect(backingOff.task).toMatchObject({ attempts: 1, manual: false, series: { manualWaits: true } })
  })

  it('may be asked for again while it runs itself', () => {
    const story = ask(new SeriesStory({ everyMs: MINUTE }).run(0, 10), SECOND)
    story.begin(SECOND)
    ask(story, SECOND + 1).end(SECOND + 2)
    expect(story.task).toMatchObject({ ...waitsFor(3, SECOND + 2), manual: true })
  })

  it('goes before the slot that QUEUE_ONE keeps, and before the rest of a catch-up', () => {
    const queued = ask(new SeriesStory({ everyMs: SECOND, overlap: 'queueOne' }).begin(0), 10).end(1_500)
    expect(queued.task).toMatchObject({ manual: true })
    queued.run(1_500, 1_600)
    expect(queued.task).toMatchObject({ ...waitsFor(3, 1_000), manual: false })
    const catching = new SeriesStory({ everyMs: SECOND, missed: 'runAll' }).run(0, 10)
    catching.look(5_500)
    catching.begin(5_500)
    ask(catching, 5_600).end(5_700)
    catching.run(5_700, 5_800)
    expect(catching.task).toMatchObject({ ...waitsFor(4, 2_000), manual: false })
  })

  it('runs after the last run of the rhythm, and the series ends with it', () => {
    const story = ask(new SeriesStory({ everyMs: MINUTE, maxRuns: 1 }).begin(0), 10).end(20)
    expect(story.task).toMatchObject({ state: 'scheduled', manual: true })
    story.run(20, 30, failure())
    expect(story.told).toEqual(['run 1 succeeded due 0', 'run 2 failed due 20, last'])
    expect(story.task.state).toBe('failed')
  })
})

describe('RunNow in a pause', () => {
  it('waits for the end of the pause, and runs before the rhythm goes on', () => {
    const story = new SeriesStory({ everyMs: MINUTE }).run(0, 10)
    story.take(pause(story.task, NOW + SECOND))
    ask(story, 3 * MINUTE + SECOND)
    story.take(resume(story.task, NOW + 4 * MINUTE + SECOND))
    expect(story.told.slice(1)).toEqual(['run 2 skipped 4 (paused) due 240000'])
    expect(story.task).toMatchObject({ ...waitsFor(3, 4 * MINUTE + SECOND), manual: true })
    story.run(4 * MINUTE + SECOND, 4 * MINUTE + 2 * SECOND)
    expect(story.task).toMatchObject({ ...waitsFor(4, 5 * MINUTE), manual: false })
  })
})
