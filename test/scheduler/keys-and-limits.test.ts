import { describe, expect, it } from 'vitest'
import type { LiveTask } from '../../server/scheduler/live-task.js'
import { addAll, after, core, finish, live, started, startOrder } from '../support/live.js'
import { NOW } from '../support/tasks.js'

describe('a concurrency key', () => {
  it('lets one task run at a time, in due order whatever the priority', () => {
    const of = core({ thread: 9 })
    const [first, second] = [
      live({ concurrencyKey: 'k' }),
      live({ ...after(1), concurrencyKey: 'k', priority: 100 }),
    ]
    const other = live({ ...after(1), concurrencyKey: 'other' })
    addAll(of, second, other, first)
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
    addAll(of, first, second)
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
    addAll(of, low, high)
    of.look(NOW)
    expect(startOrder(of)).toEqual([high, low])
  })

  it('gives way to a task of the same key that is due earlier and comes later', () => {
    const of = core({ thread: 9 })
    const [late, early] = [live({ ...after(5), concurrencyKey: 'k' }), live({ concurrencyKey: 'k' })]
    addAll(of, late)
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
    addAll(of, a, b, c, free)
    of.look(NOW)
    of.remove(b)
    of.remove(a)
    expect(started(of)).toEqual([c, free])
  })

  it('is released by the key that was taken, when the task has another one now', () => {
    const of = core({ thread: 9 })
    const [first, second] = [live({ concurrencyKey: 'k' }), live({ concurrencyKey: 'k' })]
    addAll(of, first, second)
    of.look(NOW)
    started(of)
    first.task = { ...first.task, spec: { ...first.task.spec, concurrencyKey: 'new' } }
    finish(of, first)
    expect(started(of)).toEqual([second])
  })

  it('has room for a hundred thousand tasks of one key', () => {
    const of = core({ thread: 9 })
    const tasks = Array.from({ length: 100_000 }, () => live({ concurrencyKey: 'k' }))
    addAll(of, ...tasks.slice(0, 50_000).toReversed(), ...tasks.slice(50_000))
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
    addAll(of, ...few, other)
    of.look(NOW)
    expect(started(of)).toEqual([few[0], few[1], other])
    expect(few[2]?.where).toBe('atLimit')
    finish(of, few[0] as LiveTask)
    expect(started(of)).toEqual([few[2]])
  })

  it('lets the next one in when the one that was let in is taken out', () => {
    const of = core({ thread: 3, handlers })
    const few = Array.from({ length: 4 }, () => live({ handler: 'few' }))
    addAll(of, ...few)
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
    addAll(of, running)
    of.look(NOW)
    started(of)
    of.add(low, NOW)
    of.add(high, NOW)
    finish(of, running)
    expect(startOrder(of)).toEqual([high, low])
  })
})

describe('a quarantined task', () => {
  it('runs one at a time among its kind, and does not keep others waiting', () => {
    const of = core({ thread: 9, handlers: { work: {}, few: { maxConcurrent: 1 } } })
    const suspects = Array.from({ length: 3 }, () => live({}, { suspicions: 2 }))
    const other = live()
    addAll(of, ...suspects, other)
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
    addAll(of, running, first, second, third)
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
