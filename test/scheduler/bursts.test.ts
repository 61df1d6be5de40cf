import { describe, expect, it } from 'vitest'
import type { DispatchCore } from '../../server/scheduler/dispatch-core.js'
import type { LiveTask } from '../../server/scheduler/live-task.js'
import { core, finish, live } from '../support/live.js'
import type { GivenSpec } from '../support/task-specs.js'
import { NOW } from '../support/tasks.js'

function due(to: DispatchCore, count: number, spec: GivenSpec = {}): LiveTask[] {
  const tasks = Array.from({ length: count }, () => live(spec))
  for (const task of tasks) to.add(task, NOW)
  to.look(NOW)
  return tasks
}

const sizes = (of: DispatchCore): number[] => of.start(Infinity).map(({ members }) => members.length)

describe('a burst', () => {
  it('is one attempt as long as nobody knows how long the handler takes', () => {
    const of = core({ thread: 2 })
    due(of, 10)
    expect(sizes(of)).toEqual([1, 1])
  })

  it('is one attempt as long as slots are free', () => {
    const of = core({ thread: 4 })
    of.work.measure('work', 0.1)
    due(of, 3)
    expect(sizes(of)).toEqual([1, 1, 1])
  })

  it('is at most 5 ms of measured work, dealt to the slots in turn', () => {
    const of = core({ thread: 2 })
    of.work.measure('work', 1)
    const tasks = due(of, 100)
    const bursts = of.start(Infinity)
    expect(bursts.map(({ members }) => members)).toEqual([
      [0, 2, 4, 6, 8].map((i) => tasks[i]),
      [1, 3, 5, 7, 9].map((i) => tasks[i]),
    ])
    expect(of.lane('thread').busy).toBe(2)
  })

  it('is never more than fits one message, however quick the handler is', () => {
    const of = core({ thread: 1 })
    of.work.measure('work', 0)
    due(of, 5_000)
    expect(sizes(of)[0]).toBeLessThanOrEqual(1_024)
    expect(of.dueWaiting).toBeGreaterThanOrEqual(5_000 - 1_024)
  })

  it('holds attempts of one handler; the next in line of another one waits, and is not overtaken', () => {
    const of = core({ thread: 1, handlers: { work: {}, other: {} } })
    of.work.measure('work', 0.1)
    of.work.measure('other', 0.1)
    const [a, b] = due(of, 2)
    const [other] = due(of, 1, { handler: 'other' })
    due(of, 5)
    const [burst] = of.start(Infinity)
    expect(burst?.members).toEqual([a, b])
    finish(of, a as LiveTask)
    expect(of.start(Infinity)).toEqual([])
    finish(of, b as LiveTask)
    expect(of.start(Infinity)[0]?.members).toEqual([other])
  })

  it('is never more than one attempt in the shared lane, nor for a slow handler', () => {
    const of = core({ thread: 1, shared: 2, handlers: { slow: {}, wait: { lane: 'shared' } } })
    of.work.measure('wait', 0.1)
    of.work.measure('slow', 6)
    due(of, 5, { handler: 'wait' })
    due(of, 5, { handler: 'slow' })
    expect(sizes(of)).toEqual([1, 1, 1])
  })

  it('frees its slot when all its members are done', () => {
    const of = core({ thread: 1 })
    of.work.measure('work', 1)
    due(of, 3)
    const members = of.start(Infinity).flatMap((burst) => burst.members)
    for (const member of members) {
      expect(of.lane('thread').busy).toBe(1)
      finish(of, member)
    }
    expect(of.lane('thread').busy).toBe(0)
  })

  it('never holds two tasks of one concurrency key, nor a suspect beside another task', () => {
    const of = core({ thread: 1 })
    of.work.measure('work', 0.1)
    const [first] = due(of, 3, { concurrencyKey: 'k' })
    expect(of.start(Infinity)[0]?.members).toEqual([first])
    finish(of, first as LiveTask)
    const alone = core({ thread: 1 })
    alone.work.measure('work', 0.1)
    const suspect = live({}, { suspicions: 2 })
    alone.add(suspect, NOW)
    due(alone, 3)
    expect(alone.start(Infinity)[0]?.members).toEqual([suspect])
    const behind = core({ thread: 1 })
    behind.work.measure('work', 0.1)
    const [ordinary] = due(behind, 1)
    behind.add(live({}, { suspicions: 2 }), NOW)
    expect(behind.start(Infinity)[0]?.members).toEqual([ordinary])
  })
})

describe('the measure of a handler', () => {
  it('goes up quickly and down slowly', () => {
    const { work } = core()
    work.measure('work', 1)
    work.measure('work', 100)
    expect(work.estimate('work')).toBeGreaterThan(50)
    work.measure('work', 1)
    expect(work.estimate('work')).toBeGreaterThan(45)
    for (let i = 0; i < 100; i++) work.measure('work', 1)
    expect(work.estimate('work')).toBeLessThan(2)
  })
})
