import { describe, expect, it } from 'vitest'
import { nextDueTime } from '../../server/task/next-due-time.js'
import { cancel, pause, replace, runNow } from '../../server/task/requests.js'
import { completeRecurrence } from '../../server/task/recurrence/validate-recurrence.js'
import { failure } from '../support/outcomes.js'
import { MINUTE, SECOND, SeriesStory } from '../support/series.js'
import { taskSpec } from '../support/task-specs.js'
import { endedTask, NOW, runningTask, waitingTask } from '../support/tasks.js'

const shown = (story: SeriesStory, at: number): number | undefined => {
  const next = nextDueTime(story.task, NOW + at)
  return next === undefined ? undefined : next - NOW
}

describe('the next due time', () => {
  it('of a one-shot is its due time, or the end of its back-off', () => {
    expect(nextDueTime(waitingTask({ when: { kind: 'after', delayMs: 5 } }), NOW)).toBe(NOW + 5)
    expect(nextDueTime(waitingTask({}, { attempts: 1, notBefore: NOW + 9 }), NOW)).toBe(NOW + 9)
  })

  it('is none while a one-shot runs, after the end, and after a cancel', () => {
    expect(nextDueTime(runningTask(), NOW)).toBeUndefined()
    expect(nextDueTime(endedTask('failed'), NOW)).toBeUndefined()
    const story = new SeriesStory({ everyMs: SECOND }).begin(0)
    story.take(cancel(story.task, NOW))
    expect(shown(story, 1)).toBeUndefined()
  })

  it('of a series that waits is that of its next run', () => {
    expect(shown(new SeriesStory({ everyMs: SECOND }).run(0, 10), 20)).toBe(SECOND)
    const retry = { maxAttempts: 2, initialBackoffMs: 100, jitterRatio: 0 }
    expect(shown(new SeriesStory({ everyMs: SECOND }, { retry }).run(0, 10, failure()), 20)).toBe(110)
  })

  it('of a series that runs is the next slot by now, past those that the run has cost already', () => {
    const story = new SeriesStory({ everyMs: SECOND }).begin(0)
    expect([0, 999, 1_500].map((at) => shown(story, at))).toEqual([SECOND, SECOND, 2 * SECOND])
    const queued = new SeriesStory({ everyMs: SECOND, overlap: 'queueOne' }).begin(0)
    expect(shown(queued, 1_500)).toBe(SECOND)
  })

  it('hangs on the end of the run for min_interval and delay_after', () => {
    expect(shown(new SeriesStory({ minIntervalMs: SECOND }).begin(0), 10)).toBeUndefined()
    expect(shown(new SeriesStory({ delayAfterMs: SECOND }).begin(0), 10)).toBeUndefined()
  })

  it('is none when the run that is open is the last', () => {
    expect(shown(new SeriesStory({ everyMs: SECOND, maxRuns: 1 }).begin(0), 10)).toBeUndefined()
    expect(shown(new SeriesStory({ everyMs: SECOND, until: NOW }).begin(0), 10)).toBeUndefined()
  })

  it('of a paused series is a slot to come, for those that pass in the pause do not run', () => {
    const story = new SeriesStory({ everyMs: SECOND }).run(0, 10)
    story.take(pause(story.task, NOW + 20))
    expect([500, 1_000, 1_500, 60_500].map((at) => shown(story, at))).toEqual([1_000, 2_000, 2_000, 61_000])
  })

  it('of a paused series whose run was open is that run', () => {
    const story = new SeriesStory({ everyMs: SECOND })
    story.take(pause(story.task, NOW + 20))
    expect(shown(story, 1_500)).toBe(0)
  })

  it('is now, where RunNow has asked for a run beside the rhythm', () => {
    const story = new SeriesStory({ minIntervalMs: MINUTE }).begin(0)
    story.take(runNow(story.task, NOW + 10))
    expect(shown(story, 20)).toBe(20)
  })

  it('is that of a replacement that waits, by its own rule', () => {
    const recurrence = completeRecurrence({ cron: '*/5 * * * *' })
    const story = new SeriesStory({ everyMs: SECOND }).begin(0)
    story.take(replace(story.task, taskSpec({ id: 'report', recurrence }), 'r', NOW))
    expect(shown(story, 10)).toBe(5 * MINUTE)
  })
})
