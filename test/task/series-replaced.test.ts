import { describe, expect, it } from 'vitest'
import { completeRecurrence } from '../../server/task/recurrence/validate-recurrence.js'
import type { RecurrenceInput } from '../../server/task/recurrence/recurrence.js'
import { cancel, replace } from '../../server/task/requests.js'
import { HOUR, MINUTE, SECOND, SeriesStory, waitsFor } from '../support/series.js'
import { type GivenSpec, taskSpec } from '../support/task-specs.js'
import { NOW } from '../support/tasks.js'

function replaceBy(
  story: SeriesStory,
  at: number,
  rule: RecurrenceInput | undefined,
  spec: GivenSpec = {},
): void {
  const recurrence = rule && { recurrence: completeRecurrence(rule) }
  story.take(replace(story.task, taskSpec({ id: 'report', ...recurrence, ...spec }), '', NOW + at))
}

describe('REPLACE of a series', () => {
  it('that waits begins the new rhythm at once: the old slot does not come any more (C050)', () => {
    const story = new SeriesStory({ everyMs: 3 * SECOND }).run(0, 10)
    replaceBy(story, SECOND, { cron: '*/5 * * * *' })
    expect(story.task).toMatchObject(waitsFor(2, 5 * MINUTE))
    expect(story.results).toHaveLength(1)
  })

  it('that runs begins it after the result of the run, with the first slot of the new rule', () => {
    const story = new SeriesStory({ everyMs: SECOND }).begin(0)
    replaceBy(story, 100, { cron: '*/5 * * * *' })
    story.end(MINUTE)
    expect(story.told).toEqual(['run 1 succeeded due 0'])
    expect(story.task).toMatchObject(waitsFor(2, 5 * MINUTE))
    expect(story.series).toMatchObject({ slot: NOW + 5 * MINUTE, firstDue: NOW + 5 * MINUTE, startedRuns: 0 })
  })

  it('that runs keeps the delay of the new spec counting from when it was accepted', () => {
    const story = new SeriesStory({ everyMs: SECOND }).begin(0)
    replaceBy(story, 100, { everyMs: MINUTE }, { when: { kind: 'after', delayMs: HOUR } })
    story.end(5_000)
    expect(story.task).toMatchObject(waitsFor(2, HOUR + 100))
    expect(story.series).toMatchObject({ slot: NOW + HOUR + 100, firstDue: NOW + HOUR + 100 })
  })

  it('by a one-shot ends it with that run; of a one-shot by a rule makes a series', () => {
    const story = new SeriesStory({ everyMs: SECOND }).run(0, 10)
    replaceBy(story, 20, undefined)
    expect(story.task).not.toHaveProperty('series')
    story.run(20, 30)
    expect(story.told.at(-1)).toBe('run 2 succeeded due 20, last')
    replaceBy(story, HOUR, { everyMs: SECOND })
    story.run(HOUR, HOUR + 10)
    expect(story.task).toMatchObject(waitsFor(4, HOUR + SECOND))
  })

  it('starts the counts of max_runs anew', () => {
    const story = new SeriesStory({ everyMs: SECOND, maxRuns: 2 }).run(0, 10)
    replaceBy(story, 20, { everyMs: SECOND, maxRuns: 2 })
    story.run(20, 30).run(story.due)
    expect(story.told.at(-1)).toBe('run 3 succeeded due 1020, last')
  })

  it('of an ended one goes on with the number after the last, skipped stretches included', () => {
    const story = new SeriesStory({ everyMs: SECOND, until: NOW + 2 * SECOND }).run(0, 5 * SECOND)
    expect(story.told.at(-1)).toBe('run 2 skipped 2 (overlap) due 2000, last')
    replaceBy(story, HOUR, { everyMs: SECOND })
    expect(story.task.run).toBe(3)
  })

  it('after a cancel lets the series live on', () => {
    const story = new SeriesStory({ everyMs: SECOND }).begin(0)
    story.take(cancel(story.task, NOW + 10))
    replaceBy(story, 20, { everyMs: MINUTE })
    story.end(30)
    expect(story.told).toEqual(['run 1 cancelled due 0'])
    expect(story.task).toMatchObject({ ...waitsFor(2, 30), cancelRequested: false })
  })

  it('by a rule without any run left is refused', () => {
    const story = new SeriesStory({ everyMs: SECOND }).run(0, 10)
    expect(() => replaceBy(story, HOUR, { everyMs: SECOND, until: NOW + MINUTE })).toThrow(
      'no run is due by then',
    )
  })

  it('by a rule whose last slot passes while it waits ends the task with the open run', () => {
    const story = new SeriesStory({ everyMs: SECOND }).begin(0)
    replaceBy(story, 10, { everyMs: SECOND, until: NOW + MINUTE })
    story.end(HOUR)
    expect(story.told).toEqual(['run 1 succeeded due 0, last'])
    expect(story.task).toMatchObject({ state: 'succeeded', run: 1 })
    expect(story.task).not.toHaveProperty('replacement')
  })
})
