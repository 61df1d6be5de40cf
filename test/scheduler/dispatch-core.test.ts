import { describe, expect, it } from 'vitest'
import { addAll, after, core, finish, live, started, startOrder } from '../support/live.js'
import { NOW } from '../support/tasks.js'

describe('due tasks', () => {
  it('start by due time, equal ones by priority, then by arrival', () => {
    const of = core()
    const [late, early, high, second] = [
      live(after(2)),
      live(after(1)),
      live({ ...after(2), priority: 1 }),
      live(after(2)),
    ]
    addAll(of, late, second, high, early)
    of.look(NOW + 2)
    expect(startOrder(of)).toEqual([high, early, late, second])
  })

  it('are overtaken only by tasks due at most difference of priorities × 10 s after them', () => {
    const of = core()
    const low = live()
    const justInTime = live({ ...after(19_999), priority: 2 })
    const tooLate = live({ ...after(20_000), priority: 2 })
    addAll(of, tooLate, justInTime, low)
    of.look(NOW + 20_000)
    expect(startOrder(of)).toEqual([justInTime, low, tooLate])
  })

  it('do not start before a look has found them due', () => {
    const of = core()
    addAll(of, live(after(10)))
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
    addAll(
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
      { lane: 'thread', slots: 2, busy: 2, ready: 3 },
      { lane: 'shared', slots: 3, busy: 3, ready: 2 },
    ])
    for (const task of first) finish(of, task)
    expect(started(of)).toHaveLength(4)
  })

  it('start no more than may start', () => {
    const of = core({ thread: 9 })
    addAll(of, live(), live(), live())
    of.look(NOW)
    expect(started(of, 2)).toHaveLength(2)
    expect(started(of, 0)).toHaveLength(0)
    expect(started(of)).toHaveLength(1)
  })

  it('beyond the frontier wait, however many slots are free', () => {
    const of = core({ thread: 9 })
    const [first, second, third] = [live(), live(), live(after(1))]
    addAll(of, first, second, third)
    of.look(NOW + 1)
    const frontier = { key: NOW, arrival: first.task.arrival }
    expect(of.start(Infinity, frontier).flatMap(({ members }) => members)).toEqual([first])
    expect(of.isHeldBack(frontier)).toBe(true)
    expect(of.isHeldBack({ key: NOW, arrival: Infinity })).toBe(false)
    expect(started(of)).toEqual([second, third])
  })
})

describe('a task whose handler is not loaded', () => {
  it('waits, takes no slot, and can be taken out', () => {
    const of = core({ thread: 1, handlers: { work: {} } })
    const [lost, found] = [live({ handler: 'nobody' }), live()]
    addAll(of, lost, found)
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
    addAll(of, ...tasks)
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
    addAll(of, running, waiting)
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
