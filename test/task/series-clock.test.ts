import { describe, expect, it } from 'vitest'
import { pulledIn } from '../../server/task/clock-step.js'
import { nextDueTime } from '../../server/task/next-due-time.js'
import { cancel, pause, resume } from '../../server/task/requests.js'
import { DAY, HOUR, MINUTE, SECOND, SeriesStory, waitsFor } from '../support/series.js'
import { NOW } from '../support/tasks.js'

/** 2030-03-10: clocks in New York go from 02:00 to 03:00, at 07:00Z. */
const NEW_YORK = 'America/New_York'
const GAP = Date.UTC(2030, 2, 10, 7) - NOW

describe('a local time that does not exist', () => {
  const daily = { cron: '30 2 * * *', timeZone: NEW_YORK } as const

  /** The run of 02:30 on the day before has ended. */
  const onTheDayBefore = (rule: object, spec: object = {}): SeriesStory => {
    const story = new SeriesStory({ ...daily, ...rule }, spec, {})
    const slot = NOW + GAP + 30 * MINUTE - DAY
    const series = { ...story.series, slot, firstDue: slot }
    story.task = { ...story.task, dueTime: slot, notBefore: slot, series }
    return story.run(slot - NOW, slot - NOW + SECOND)
  }

  it('is moved forward by the length of the gap under SHIFT', () => {
    const story = onTheDayBefore({ dstGap: 'shift' })
    expect(story.task).toMatchObject(waitsFor(2, GAP + 30 * MINUTE))
    expect(story.look(GAP + 30 * MINUTE)).toBe(true)
  })

  it('is skipped under SKIP: when its time comes, not before', () => {
    const story = onTheDayBefore({ dstGap: 'skip' })
    expect(story.results).toHaveLength(1)
    expect(story.look(GAP + 30 * MINUTE)).toBe(false)
    expect(story.results[1]).toMatchObject({
      run: 2,
      outcome: 'skipped',
      skipReason: 'dstGap',
      skippedCount: 1,
      dueTime: NOW + GAP + 30 * MINUTE,
      endTimeUs: (NOW + GAP + 30 * MINUTE) * 1_000,
      last: false,
    })
    expect(story.task).toMatchObject(waitsFor(3, GAP + DAY - 30 * MINUTE))
  })

  it('is never shown as the next due time under SKIP', () => {
    const story = onTheDayBefore({ dstGap: 'skip' })
    expect(nextDueTime(story.task, NOW + GAP - HOUR)).toBe(NOW + GAP + DAY - 30 * MINUTE)
  })

  it('is the slot that a cancel ends, when that comes while it is waited for', () => {
    const story = onTheDayBefore({ dstGap: 'skip' })
    story.take(cancel(story.task, NOW + GAP - HOUR))
    expect(story.told.slice(1)).toEqual([`run 2 cancelled due ${GAP + 30 * MINUTE}, last`])
  })

  it('is skipped when it is the first slot of all', () => {
    const when = { kind: 'at', dueTime: NOW + GAP - HOUR } as const
    const story = new SeriesStory({ ...daily, dstGap: 'skip' }, { when })
    expect(story.look(GAP + 30 * MINUTE)).toBe(false)
    expect(story.told).toEqual([`run 1 skipped 1 (dstGap) due ${GAP + 30 * MINUTE}`])
  })

  it('is told apart from slots that were missed or passed in a pause', () => {
    const dst = `run 2 skipped 1 (dstGap) due ${GAP + 30 * MINUTE}`
    const third = GAP + 3 * DAY - 30 * MINUTE
    const missed = onTheDayBefore({ dstGap: 'skip', missed: 'skip' })
    missed.look(GAP + 3 * DAY)
    expect(missed.told.slice(1)).toEqual([dst, `run 3 skipped 3 (missed) due ${third}`])
    const inPause = onTheDayBefore({ dstGap: 'skip' })
    inPause.take(pause(inPause.task, NOW + GAP - HOUR))
    inPause.take(resume(inPause.task, NOW + GAP + 3 * DAY))
    expect(inPause.told.slice(1)).toEqual([dst, `run 3 skipped 3 (paused) due ${third}`])
  })

  it('is told apart from slots that passed while a run was open', () => {
    const rule = { cron: '30 1,2 * * *', timeZone: NEW_YORK, dstGap: 'skip' } as const
    const story = new SeriesStory(rule, { when: { kind: 'at', dueTime: NOW + GAP - DAY } })
    while (story.due < GAP - 30 * MINUTE) story.run(story.due)
    story.results.length = 0
    expect(story.due).toBe(GAP - 30 * MINUTE)
    story.run(story.due, GAP + DAY)
    expect(story.told.map((text) => text.replace(/^run \d+ /, ''))).toEqual([
      `succeeded due ${GAP - 30 * MINUTE}`,
      `skipped 1 (dstGap) due ${GAP + 30 * MINUTE}`,
      `skipped 2 (overlap) due ${GAP + DAY - 30 * MINUTE}`,
    ])
  })

  it('that is the only one that passed while a run was open is told when the run has ended', () => {
    const story = onTheDayBefore({ dstGap: 'skip' })
    const hourly = new SeriesStory({ cron: '30 1,2 * * *', timeZone: NEW_YORK, dstGap: 'skip' })
    const slot = NOW + GAP - 30 * MINUTE
    hourly.task = { ...hourly.task, dueTime: slot, notBefore: slot, series: { ...hourly.series, slot } }
    hourly.run(slot - NOW, GAP + HOUR)
    expect(hourly.told.at(-1)).toBe(`run 2 skipped 1 (dstGap) due ${GAP + 30 * MINUTE}`)
    expect(hourly.task.run).toBe(3)
    expect(story.task.run).toBe(2)
  })

  it('in the middle of a catch-up is told when its turn comes', () => {
    const rule = { ...daily, dstGap: 'skip', missed: 'runAll' } as const
    const when = { kind: 'at', dueTime: NOW + GAP - DAY } as const
    const story = new SeriesStory(rule, { when })
    const back = GAP + 2 * DAY
    for (let now = back; story.due < back; now += SECOND) if (story.look(now)) story.run(now, now + 1)
    const eve = GAP + 30 * MINUTE - DAY
    expect(story.told).toEqual([
      `run 1 succeeded due ${eve}`,
      `run 2 skipped 1 (dstGap) due ${GAP + 30 * MINUTE}`,
      `run 3 succeeded due ${GAP - 30 * MINUTE + DAY}`,
      `run 4 succeeded due ${GAP - 30 * MINUTE + 2 * DAY}`,
    ])
  })

  it('of a catch-up is left out of it', () => {
    const story = onTheDayBefore({ dstGap: 'skip', missed: 'runAll' })
    const back = GAP + 3 * DAY
    story.look(back)
    const dues: number[] = []
    for (let now = back; story.due < back; now += SECOND) {
      if (!story.look(now)) continue
      dues.push(story.due)
      story.run(now, now + 1)
    }
    expect(dues).toEqual([1, 2, 3].map((day) => GAP - 30 * MINUTE + day * DAY))
    expect(story.told.filter((text) => text.includes('dstGap'))).toHaveLength(1)
    expect(story.told.filter((text) => text.includes('missed'))).toEqual([])
  })
})

describe('a backward step of the clock', () => {
  const steppedTo = (story: SeriesStory, at: number): SeriesStory => {
    story.take(pulledIn(story.task, NOW + at))
    return story
  }

  it.each([
    ['every', { everyMs: HOUR }],
    ['min_interval', { minIntervalMs: HOUR }],
    ['delay_after', { delayAfterMs: HOUR }],
  ])('pulls the waiting run of %s in to an interval from now', (_, rule) => {
    const story = steppedTo(new SeriesStory(rule).run(0, SECOND), -5 * HOUR)
    expect(story.task).toMatchObject(waitsFor(2, -4 * HOUR))
  })

  it.each([
    ['every', { everyMs: HOUR }, -4 * HOUR],
    ['min_interval', { minIntervalMs: HOUR }, -4 * HOUR],
    ['delay_after', { delayAfterMs: HOUR }, -4 * HOUR],
  ])('pulls in the next run of %s when it came while a run was open', (_, rule, due) => {
    const story = new SeriesStory(rule).begin(0).end(SECOND, undefined, -5 * HOUR)
    expect(story.due).toBe(due)
    story.run(due, due + SECOND)
    expect(story.due - due).toBeLessThanOrEqual(HOUR + SECOND)
  })

  it('leaves cron slots where they are: none runs twice (C009)', () => {
    const story = new SeriesStory({ cron: '* * * * *' }).run(MINUTE)
    expect(pulledIn(story.task, NOW - HOUR)).toBeUndefined()
    expect(story.task).toMatchObject(waitsFor(2, 2 * MINUTE))
  })

  it('leaves the first due time where the caller wanted it', () => {
    const story = new SeriesStory({ everyMs: MINUTE }, { when: { kind: 'after', delayMs: HOUR } })
    expect(pulledIn(story.task, NOW - HOUR)).toBeUndefined()
  })

  it('lets a run that RunNow asked for, and one that was cut off, start now', () => {
    const manual = steppedTo(new SeriesStory({ everyMs: MINUTE }, {}, { manual: true }), -HOUR)
    expect(manual.task).toMatchObject(waitsFor(1, -HOUR))
    const cutOff = { attempts: 1, interruptions: 1 }
    const open = steppedTo(new SeriesStory({ everyMs: MINUTE }, {}, cutOff), -HOUR)
    expect(open.task).toMatchObject({ dueTime: NOW, notBefore: NOW - HOUR, ...cutOff })
  })

  it('in the middle of a catch-up does not put off the slots that are in the future again', () => {
    const story = new SeriesStory({ everyMs: HOUR, missed: 'runAll' }).run(0, 10)
    story.look(4 * HOUR)
    story.begin(4 * HOUR).end(4 * HOUR + 10, undefined, -HOUR)
    expect(story.due).toBe(0)
    expect(story.series).not.toHaveProperty('owedThrough')
  })

  it('forgets what RUN_ALL owed: the grid is another one', () => {
    const story = new SeriesStory({ everyMs: HOUR, missed: 'runAll' }).run(0, 10)
    story.look(3 * HOUR)
    expect(story.series).toHaveProperty('owedThrough')
    steppedTo(story, -HOUR)
    expect(story.series).not.toHaveProperty('owedThrough')
    expect(story.due).toBe(0)
  })
})
