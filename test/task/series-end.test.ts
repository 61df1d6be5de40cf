import { describe, expect, it } from 'vitest'
import { cancel, expire, retryEnded, runNow } from '../../server/task/requests.js'
import { NO_PAYLOAD } from '../../server/task/task-spec.js'
import { failure } from '../support/outcomes.js'
import { HOUR, MINUTE, SECOND, SeriesStory, waitsFor } from '../support/series.js'
import { NOW } from '../support/tasks.js'

describe('max_runs', () => {
  it('ends the series after that many runs; the last result says so', () => {
    const story = new SeriesStory({ everyMs: SECOND, maxRuns: 3 })
    story
      .run(0, 10)
      .run(SECOND, SECOND + 10)
      .run(2 * SECOND, 2 * SECOND + 10)
    expect(story.told).toEqual([
      'run 1 succeeded due 0',
      'run 2 succeeded due 1000',
      'run 3 succeeded due 2000, last',
    ])
    expect(story.task).toMatchObject({ state: 'succeeded', run: 3, endTime: NOW + 2 * SECOND + 10 })
  })

  it('counts runs that started: not skipped stretches, not retries, not runs that expired', () => {
    const retry = { maxAttempts: 2, initialBackoffMs: 100, jitterRatio: 0 }
    const story = new SeriesStory({ everyMs: SECOND, maxRuns: 2 }, { startWithinMs: 500, retry })
    story.take(expire(story.task, NOW + 501))
    story.run(SECOND, SECOND + 10, failure()).run(SECOND + 200, 3_500)
    expect(story.told.filter((text) => !text.startsWith('run 2'))).toEqual([
      'run 1 expired due 0',
      'run 3 skipped 2 (overlap) due 3000',
    ])
    story.run(4 * SECOND)
    expect(story.task).toMatchObject({ state: 'succeeded', run: 4 })
  })

  it('does not count a run beside the rhythm', () => {
    const story = new SeriesStory({ everyMs: MINUTE, maxRuns: 2 }).run(0, 10)
    story.take(runNow(story.task, NOW + SECOND))
    story.run(SECOND, SECOND + 10)
    expect(story.task).toMatchObject(waitsFor(3, MINUTE))
    story.run(MINUTE, MINUTE + 10)
    expect(story.told.at(-1)).toBe('run 3 succeeded due 60000, last')
  })

  it('stops a catch-up of RUN_ALL', () => {
    const story = new SeriesStory({ everyMs: SECOND, maxRuns: 3, missed: 'runAll' }).run(0, 10)
    story.look(60_000)
    story.run(60_000, 60_010).run(60_020, 60_030)
    expect(story.told.at(-1)).toBe('run 3 succeeded due 2000, last')
  })
})

describe('until', () => {
  it('is inclusive: a slot at that instant runs', () => {
    const story = new SeriesStory({ everyMs: SECOND, until: NOW + 2 * SECOND })
    story.run(0, 10).run(SECOND, SECOND + 10)
    expect(story.task).toMatchObject(waitsFor(3, 2 * SECOND))
    story.run(2 * SECOND, 2 * SECOND + 10)
    expect(story.told.at(-1)).toBe('run 3 succeeded due 2000, last')
    expect(story.task.state).toBe('succeeded')
  })

  it('holds for the next due time of min_interval and delay_after', () => {
    for (const rule of [{ minIntervalMs: SECOND }, { delayAfterMs: SECOND }]) {
      const story = new SeriesStory({ ...rule, until: NOW + 2 * SECOND })
      story.run(0, 500).run(story.due, 2_001)
      expect(story.task).toMatchObject({ state: 'succeeded', run: 2 })
    }
  })

  it('ends the series with the slots that passed during its last run', () => {
    const story = new SeriesStory({ everyMs: SECOND, until: NOW + 2 * SECOND })
    story.run(0, 5 * SECOND)
    expect(story.told).toEqual(['run 1 succeeded due 0', 'run 2 skipped 2 (overlap) due 2000, last'])
    expect(story.task).toMatchObject({
      state: 'succeeded',
      run: 2,
      attempts: 0,
      dueTime: NOW + 2 * SECOND,
      endTime: NOW + 5 * SECOND,
    })
  })

  it('queues the last slot before it, though it has passed', () => {
    const story = new SeriesStory({ everyMs: SECOND, until: NOW + 2 * SECOND, overlap: 'queueOne' })
    story.run(0, 5 * SECOND)
    expect(story.task).toMatchObject(waitsFor(3, 2 * SECOND))
    expect(story.look(5 * SECOND)).toBe(true)
    story.run(5 * SECOND)
    expect(story.told.at(-1)).toBe('run 3 succeeded due 2000, last')
  })

  it('ends a series that missed all it had left', () => {
    const story = new SeriesStory({ everyMs: SECOND, until: NOW + 3 * SECOND, missed: 'skip' }).run(0, 10)
    story.look(HOUR)
    expect(story.told.slice(1)).toEqual(['run 2 skipped 3 (missed) due 3000, last'])
    expect(story.task).toMatchObject({ state: 'succeeded', run: 2, endTime: NOW + HOUR })
  })
})

describe('an ended series', () => {
  const twoRuns = (): SeriesStory => new SeriesStory({ everyMs: SECOND, maxRuns: 2 }).run(0, 10)

  it('has the state of its last run that started', () => {
    expect(twoRuns().run(SECOND, SECOND + 10).task.state).toBe('succeeded')
    expect(twoRuns().run(SECOND, SECOND + 10, failure()).task.state).toBe('failed')
    const timedOut = twoRuns().run(SECOND, SECOND + 10, { kind: 'timedOut', stage: 'cooperative' })
    expect(timedOut.task.state).toBe('failed')
  })

  it('keeps that state when skipped or expired runs come after it', () => {
    const story = new SeriesStory({ everyMs: SECOND, until: NOW + SECOND }, { startWithinMs: 100 })
    story.run(0, 10, failure())
    story.take(expire(story.task, NOW + SECOND + 101))
    expect(story.told.at(-1)).toBe('run 2 expired due 1000, last')
    expect(story.task.state).toBe('failed')
  })

  it('is EXPIRED when none of its runs has started', () => {
    const story = new SeriesStory({ everyMs: SECOND, until: NOW + 3 * SECOND, missed: 'skip' })
    story.look(HOUR)
    expect(story.told).toEqual(['run 1 skipped 4 (missed) due 3000, last'])
    expect(story.task.state).toBe('expired')
  })

  it('is CANCELLED by a cancel while it waits: the run that would have come next is its result', () => {
    const story = twoRuns()
    story.take(cancel(story.task, NOW + 500))
    expect(story.told.at(-1)).toBe('run 2 cancelled due 1000, last')
    expect(story.task).toMatchObject({ state: 'cancelled', run: 2 })
  })

  it('is CANCELLED by a cancel while it runs, whatever the run returned and however much has passed', () => {
    const story = new SeriesStory({ everyMs: SECOND, overlap: 'queueOne' }).begin(0)
    story.take(cancel(story.task, NOW + 100))
    expect(story.task).toMatchObject({ state: 'running', cancelRequested: true })
    story.end(9 * SECOND, { kind: 'succeeded', output: NO_PAYLOAD })
    expect(story.told).toEqual(['run 1 cancelled due 0, last'])
    expect(story.task.state).toBe('cancelled')
  })

  it('is CANCELLED although RunNow had asked for one more run', () => {
    const story = new SeriesStory({ everyMs: SECOND }).begin(0)
    story.take(runNow(story.task, NOW + 50))
    story.take(cancel(story.task, NOW + 100))
    story.end(200)
    expect(story.told).toEqual(['run 1 cancelled due 0, last'])
  })
})

describe('a retry after the end of a series', () => {
  it('runs once more, beside the rhythm, and ends again where max_runs is reached', () => {
    const story = new SeriesStory({ everyMs: SECOND, maxRuns: 1 }).run(0, 10, failure())
    expect(story.task.state).toBe('failed')
    story.take(retryEnded(story.task, NOW + HOUR))
    expect(story.task).toMatchObject({ ...waitsFor(2, HOUR), manual: true })
    story.run(HOUR, HOUR + 10)
    expect(story.told.slice(1)).toEqual(['run 2 succeeded due 3600000, last'])
    expect(story.task.state).toBe('succeeded')
  })

  it('of a cancelled one goes on with the rhythm on its grid; what passed after the end is nobody’s', () => {
    const story = new SeriesStory({ everyMs: MINUTE }).run(0, 10)
    story.take(cancel(story.task, NOW + SECOND))
    story.take(retryEnded(story.task, NOW + HOUR + 5))
    story.run(HOUR + 5, HOUR + 10)
    expect(story.told.slice(1)).toEqual(['run 2 cancelled due 60000, last', 'run 3 succeeded due 3600005'])
    expect(story.task).toMatchObject({ ...waitsFor(4, HOUR + MINUTE), manual: false })
  })

  it('of one that was cancelled before its first run still has that run to come', () => {
    const when = { kind: 'after', delayMs: HOUR } as const
    const story = new SeriesStory({ everyMs: MINUTE }, { when })
    story.take(cancel(story.task, NOW + SECOND))
    story.take(retryEnded(story.task, NOW + MINUTE))
    story.run(MINUTE, MINUTE + 10)
    expect(story.task).toMatchObject(waitsFor(3, HOUR))
  })
})
