import { describe, expect, it } from 'vitest'
import type { DispatchCore } from '../../server/scheduler/dispatch-core.js'
import type { LiveTask } from '../../server/scheduler/live-task.js'
import { core, finish, live, started } from '../support/live.js'
import { NOW } from '../support/tasks.js'

const after = (delayMs: number): { when: { kind: 'after'; delayMs: number } } => ({
  when: { kind: 'after', delayMs },
})

function add(to: DispatchCore, ...tasks: LiveTask[]): void {
  for (const task of tasks) to.add(task, NOW)
}

/** In which order tasks start when one slot frees up at a time. */
function order(of: DispatchCore): LiveTask[] {
  const all: LiveTask[] = []
  for (let next = started(of); next.length > 0; next = started(of)) {
    all.push(...next)
    for (const task of next) finish(of, task)
  }
  return all
}

describe('due tasks', () => {
  it('start by due time, equal ones by priority, then by arrival', () => {
    const of = core()
    const [late, early, high, second] = [
      live(after(2)),
      live(after(1)),
      live({ ...after(2), priority: 1 }),
      live(after(2)),
    ]
    add(of, late, second, high, early)
    of.look(NOW + 2)
    expect(order(of)).toEqual([high, early, late, second])
  })

  it('are overtaken only by tasks due at most difference of priorities × 10 s after them', () => {
    const of = core()
    const low = live()
    const justInTime = live({ ...after(19_999), priority: 2 })
    const tooLate = live({ ...after(20_000), priority: 2 })
    add(of, tooLate, justInTime, low)
    of.look(NOW + 20_000)
    expect(order(of)).toEqual([justInTime, low, tooLate])
  })

  it('do not start before a look has found them due', () => {
    const of = core()
    add(of, live(after(10)))
    expect(of.earliest).toBe(NOW + 10)
    of.look(NOW + 9)
    expect(started(of)).toEqual([])
    of.look(NOW + 10)
    expect(started(of)).toHaveLength(1)
  })

  it('that come after the look which they were due at are in line at once', () => {
    const of = core()
    of.look(NOW + 5)
    const task = live()
    of.add(task, NOW + 5)
    expect(started(of)).toEqual([task])
  })

  it('never exceed the slots of their lane, and each lane has its own', () => {
    const of = core({ thread: 2, shared: 3, handlers: { work: {}, wait: { lane: 'shared' } } })
    add(
      of,
      ...Array.from({ length: 5 }, () => live()),
      ...Array.from({ length: 5 }, () => live({ handler: 'wait' })),
    )
    of.look(NOW)
    const first = started(of)
    expect(first.map(({ task }) => task.spec.handler).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'wait',
      'wait',
      'wait',
      'work',
      'work',
    ])
    expect(started(of)).toEqual([])
    expect([of.lane('thread'), of.lane('shared')]).toEqual([
      { lane: 'thread', slots: 2, busy: 2 },
      { lane: 'shared', slots: 3, busy: 3 },
    ])
    for (const task of first) finish(of, task)
    expect(started(of)).toHaveLength(4)
  })

  it('start no more than may start', () => {
    const of = core({ thread: 9 })
    add(of, live(), live(), live())
    of.look(NOW)
    expect(started(of, 2)).toHaveLength(2)
    expect(started(of, 0)).toHaveLength(0)
    expect(started(of)).toHaveLength(1)
  })

  it('beyond the frontier wait, however many slots are free', () => {
    const of = core({ thread: 9 })
    const [first, second, third] = [live(), live(), live(after(1))]
    add(of, first, second, third)
    of.look(NOW + 1)
    const frontier = { key: NOW, arrival: first.task.arrival }
    expect(of.start(Infinity, frontier).flatMap(({ members }) => members)).toEqual([first])
    expect(of.isHeldBack(frontier)).toBe(true)
    expect(of.isHeldBack({ key: NOW, arrival: Infinity })).toBe(false)
    expect(started(of)).toEqual([second, third])
  })
})

describe('a concurrency key', () => {
  it('lets one task run at a time, in due order whatever the priority', () => {
    const of = core({ thread: 9 })
    const [first, second] = [
      live({ concurrencyKey: 'k' }),
      live({ ...after(1), concurrencyKey: 'k', priority: 100 }),
    ]
    const other = live({ ...after(1), concurrencyKey: 'other' })
    add(of, second, other, first)
    of.look(NOW + 1)
    expect(started(of)).toEqual([first, other])
    expect(second.where).toBe('behindKey')
    finish(of, other)
    expect(started(of)).toEqual([])
    finish(of, first)
    expect(started(of)).toEqual([second])
  })

  it('is held until what the attempt led to is stored', () => {
    const of = core({ thread: 9 })
    const [first, second] = [live({ concurrencyKey: 'k' }), live({ concurrencyKey: 'k' })]
    add(of, first, second)
    of.look(NOW)
    started(of)
    of.slotFreed(first)
    expect(started(of)).toEqual([])
    of.settled(first)
    expect(started(of)).toEqual([second])
  })

  it('goes by priority among keys', () => {
    const of = core()
    const [low, high] = [live({ concurrencyKey: 'a' }), live({ concurrencyKey: 'b', priority: 1 })]
    add(of, low, high)
    of.look(NOW)
    expect(order(of)).toEqual([high, low])
  })

  it('gives way to a task of the same key that is due earlier and comes later', () => {
    const of = core({ thread: 9 })
    const [late, early] = [live({ ...after(5), concurrencyKey: 'k' }), live({ concurrencyKey: 'k' })]
    add(of, late)
    of.look(NOW + 5)
    of.add(early, NOW + 5)
    expect(started(of)).toEqual([early])
    expect(late.where).toBe('behindKey')
  })

  it('takes no slot from others, and is passed on when its first task is taken out', () => {
    const of = core({ thread: 2 })
    const [a, b, c] = [
      live({ concurrencyKey: 'k' }),
      live({ concurrencyKey: 'k' }),
      live({ concurrencyKey: 'k' }),
    ]
    const free = live()
    add(of, a, b, c, free)
    of.look(NOW)
    of.remove(b)
    of.remove(a)
    expect(started(of)).toEqual([c, free])
  })

  it('is released by the key that was taken, when the task has another one now', () => {
    const of = core({ thread: 9 })
    const [first, second] = [live({ concurrencyKey: 'k' }), live({ concurrencyKey: 'k' })]
    add(of, first, second)
    of.look(NOW)
    started(of)
    first.task = { ...first.task, spec: { ...first.task.spec, concurrencyKey: 'new' } }
    finish(of, first)
    expect(started(of)).toEqual([second])
  })

  it('has room for a hundred thousand tasks of one key', () => {
    const of = core({ thread: 9 })
    const tasks = Array.from({ length: 100_000 }, () => live({ concurrencyKey: 'k' }))
    add(of, ...tasks.slice(0, 50_000).toReversed(), ...tasks.slice(50_000))
    of.look(NOW)
    for (const task of tasks.slice(0, 1_000)) {
      expect(started(of)).toEqual([task])
      finish(of, task)
    }
  })
})

describe("a handler's limit", () => {
  const handlers = { work: {}, few: { maxConcurrent: 2 } }

  it('keeps its own tasks back and nobody else, who are behind them', () => {
    const of = core({ thread: 9, handlers })
    const few = Array.from({ length: 4 }, () => live({ handler: 'few' }))
    const other = live()
    add(of, ...few, other)
    of.look(NOW)
    expect(started(of)).toEqual([few[0], few[1], other])
    expect(few[2]?.where).toBe('atLimit')
    finish(of, few[0] as LiveTask)
    expect(started(of)).toEqual([few[2]])
  })

  it('lets the next one in when the one that was let in is taken out', () => {
    const of = core({ thread: 3, handlers })
    const few = Array.from({ length: 4 }, () => live({ handler: 'few' }))
    add(of, ...few)
    of.look(NOW)
    started(of)
    // both slots of the lane are gone: the third is let in, but cannot start
    const blocker = live()
    of.add(blocker, NOW)
    started(of)
    finish(of, few[0] as LiveTask)
    of.remove(few[2] as LiveTask)
    finish(of, blocker)
    expect(started(of)).toEqual([few[3]])
  })

  it('goes by start key among those that wait for it', () => {
    const of = core({ thread: 9, handlers: { few: { maxConcurrent: 1 } } })
    const [running, low, high] = [
      live({ handler: 'few' }),
      live({ handler: 'few' }),
      live({ handler: 'few', priority: 1 }),
    ]
    add(of, running)
    of.look(NOW)
    started(of)
    of.add(low, NOW)
    of.add(high, NOW)
    finish(of, running)
    expect(order(of)).toEqual([high, low])
  })
})

describe('a quarantined task', () => {
  it('runs one at a time among its kind, and does not keep others waiting', () => {
    const of = core({ thread: 9, handlers: { work: {}, few: { maxConcurrent: 1 } } })
    const suspects = Array.from({ length: 3 }, () => live({}, { suspicions: 2 }))
    const other = live()
    add(of, ...suspects, other)
    of.look(NOW)
    expect(started(of)).toEqual([suspects[0], other])
    finish(of, suspects[0] as LiveTask)
    expect(started(of)).toEqual([suspects[1]])
  })

  it('behind a second limit does not shut the quarantine for those behind it', () => {
    const of = core({ thread: 9, handlers: { work: {}, few: { maxConcurrent: 1 } } })
    const running = live({ handler: 'few' })
    const [first, second, third] = [
      live({}, { suspicions: 2 }),
      live({ handler: 'few' }, { suspicions: 2 }),
      live({}, { suspicions: 2 }),
    ]
    add(of, running, first, second, third)
    of.look(NOW)
    expect(started(of)).toEqual([running, first])
    finish(of, first)
    // the second one's handler is at its limit: the third one's turn
    expect(started(of)).toEqual([third])
    finish(of, third)
    finish(of, running)
    expect(started(of)).toEqual([second])
  })
})

describe('a task whose handler is not loaded', () => {
  it('waits, takes no slot, and can be taken out', () => {
    const of = core({ thread: 1, handlers: { work: {} } })
    const [lost, found] = [live({ handler: 'nobody' }), live()]
    add(of, lost, found)
    of.look(NOW)
    expect(started(of)).toEqual([found])
    expect(lost.where).toBe('noHandler')
    expect(of.dueWaiting).toBe(1)
    of.remove(lost)
    expect(of.waiting).toBe(0)
  })
})

describe('start_within', () => {
  it('is looked at even if nothing else is due, and whatever keeps the task', () => {
    const of = core({ thread: 9, handlers: { work: {} } })
    const tasks = [
      live({ startWithinMs: 100, concurrencyKey: 'k' }),
      live({ startWithinMs: 100, concurrencyKey: 'k' }),
      live({ startWithinMs: 100, handler: 'nobody' }),
      live({ startWithinMs: 100, ...after(5_000) }),
    ]
    add(of, ...tasks)
    of.look(NOW)
    started(of)
    expect(of.earliest).toBe(NOW + 101)
    expect(of.look(NOW + 101).map(({ live: task, transition }) => [task, transition.task.state])).toEqual([
      [tasks[1], 'expired'],
      [tasks[2], 'expired'],
    ])
    expect(of.waiting).toBe(1)
  })
})

describe('a wall clock that is set back', () => {
  it('makes what was in line wait for its time again', () => {
    const of = core({ thread: 1 })
    const [running, waiting] = [live(after(1_000)), live(after(1_000))]
    add(of, running, waiting)
    of.look(NOW + 1_000)
    started(of)
    of.setBack(NOW)
    finish(of, running)
    expect(started(of)).toEqual([])
    expect(of.earliest).toBe(NOW + 1_000)
    of.look(NOW + 1_000)
    expect(started(of)).toEqual([waiting])
  })
})
