import { describe, expect, it } from 'vitest'
import { pause, resume } from '../../server/task/requests.js'
import { failure } from '../support/outcomes.js'
import { MINUTE, SECOND, SeriesStory, waitsFor } from '../support/series.js'
import { NOW } from '../support/tasks.js'

const paused = (story: SeriesStory, from: number, to: number): SeriesStory => {
  story.take(pause(story.task, NOW + from))
  story.take(resume(story.task, NOW + to))
  return story
}

describe('slots in a pause', () => {
  it('are one SKIPPED result when it ends, and the next slot is the next run', () => {
    const story = paused(new SeriesStory({ everyMs: SECOND }).run(0, 10), 500, 5_500)
    expect(story.told.slice(1)).toEqual(['run 2 skipped 5 (paused) due 5000'])
    expect(story.task).toMatchObject({ ...waitsFor(3, 6_000), paused: false })
  })

  it('are none when the pause ends before the next one', () => {
    const story = paused(new SeriesStory({ everyMs: SECOND }).run(0, 10), 500, 900)
    expect(story.told).toHaveLength(1)
    expect(story.task).toMatchObject(waitsFor(2, 1_000))
  })

  it('are skipped whatever missed says', () => {
    const story = new SeriesStory({ cron: '* * * * *', missed: 'runAll' })
    paused(story, 0, 10 * MINUTE + 1)
    expect(story.told).toEqual(['run 1 skipped 10 (paused) due 600000'])
  })

  it('can be the last of the series', () => {
    const story = new SeriesStory({ everyMs: SECOND, until: NOW + 2 * SECOND }).run(0, 10)
    paused(story, 500, 60_000)
    expect(story.told.slice(1)).toEqual(['run 2 skipped 2 (paused) due 2000, last'])
    expect(story.task.state).toBe('succeeded')
  })

  it('do not exist for min_interval and delay_after: the run that waited starts after it', () => {
    for (const rule of [{ minIntervalMs: SECOND }, { delayAfterMs: SECOND }]) {
      const story = new SeriesStory(rule).run(0, 500)
      const { due } = story
      paused(story, 600, 60_000)
      expect(story.task).toMatchObject(waitsFor(2, due))
    }
  })
})

describe('a run that is open when a pause begins', () => {
  it('has its place when it was due: it runs after the pause, and what passed meanwhile is overlap', () => {
    const story = paused(new SeriesStory({ everyMs: SECOND }), 100, 3_500)
    expect(story.told).toEqual([])
    expect(story.task).toMatchObject(waitsFor(1, 0))
    expect(story.look(3_500)).toBe(true)
    story.run(3_500, 3_600)
    expect(story.told).toEqual(['run 1 succeeded due 0', 'run 2 skipped 3 (overlap) due 3000'])
  })

  it('goes on when it runs; the slots after its end are paused', () => {
    const story = new SeriesStory({ everyMs: SECOND }).begin(0)
    story.take(pause(story.task, NOW + 100))
    story.end(1_500)
    story.take(resume(story.task, NOW + 4_500))
    expect(story.told).toEqual([
      'run 1 succeeded due 0',
      'run 2 skipped 1 (overlap) due 1000',
      'run 3 skipped 3 (paused) due 4000',
    ])
  })

  it('keeps backing off, and is retried after the pause', () => {
    const retry = { maxAttempts: 2, initialBackoffMs: 100, jitterRatio: 0 }
    const story = new SeriesStory({ everyMs: SECOND }, { retry }).run(0, 10, failure())
    paused(story, 50, 2_500)
    expect(story.task).toMatchObject({ run: 1, attempts: 1 })
    expect(story.look(2_500)).toBe(true)
  })

  it.each([
    ['has been tried', { attempts: 1 }],
    ['RunNow asked for', { manual: true }],
  ])('is never skipped by the end of a pause when it is one that %s', (_, changes) => {
    const story = new SeriesStory({ everyMs: SECOND }, {}, { ...changes, paused: true })
    story.take(resume(story.task, NOW + 5_500))
    expect(story.results).toEqual([])
    expect(story.task).toMatchObject({ run: 1, paused: false, ...changes })
  })
})
