import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PRIORITY_STEP_MS, startKey } from '../../server/task/start-order.js'
import { core, finish, live, started } from '../support/live.js'
import type { LiveTask } from '../../server/scheduler/live-task.js'
import { NOW } from '../support/tasks.js'

const tasks = fc.array(
  fc.record({
    delayMs: fc.integer({ min: 0, max: 60_000 }),
    priority: fc.integer({ min: -3, max: 3 }),
    key: fc.constantFrom('', '', 'a', 'b'),
    handler: fc.constantFrom('work', 'few', 'wait'),
  }),
  { maxLength: 60 },
)
const handlers = { work: {}, few: { maxConcurrent: 2 }, wait: { lane: 'shared' as const } }

interface Step {
  readonly now: number
  readonly started: LiveTask[]
  /** Ran when these started. */
  readonly running: readonly LiveTask[]
  /** Were due and not started. */
  readonly waiting: readonly LiveTask[]
}

/** Runs all tasks: some steps of time, at each of which some attempts end. */
function play(given: readonly LiveTask[], thread: number, shared: number, rhythm: readonly number[]): Step[] {
  const of = core({ thread, shared, handlers })
  for (const task of given) of.add(task, NOW)
  const running: LiveTask[] = []
  const waiting = new Set(given)
  const steps: Step[] = []
  let now = NOW
  for (let i = 0; waiting.size > 0; i++) {
    const pace = rhythm[i % rhythm.length] ?? 1
    now += pace * 100
    of.look(now)
    for (const done of running.splice(0, pace % 3)) finish(of, done)
    const next = started(of)
    running.push(...next)
    for (const task of next) waiting.delete(task)
    const due = [...waiting].filter(({ task }) => task.notBefore <= now)
    steps.push({ now, started: next, running: [...running], waiting: due })
  }
  return steps
}

const key = ({ task }: LiveTask): number => startKey(task.notBefore, task.spec.priority)
const pace = fc
  .array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 20 })
  .filter((all) => all.some((n) => n % 3))

function forAll(check: (steps: readonly Step[], slots: { thread: number; shared: number }) => void): void {
  const slots = fc.integer({ min: 1, max: 4 })
  fc.assert(
    fc.property(tasks, slots, slots, pace, (given, thread, shared, rhythm) => {
      const all = given.map(({ delayMs, priority, key: concurrencyKey, handler }) =>
        live({ when: { kind: 'after', delayMs }, priority, concurrencyKey, handler }),
      )
      const steps = play(all, thread, shared, rhythm)
      expect(steps.flatMap((step) => step.started)).toHaveLength(all.length)
      check(steps, { thread, shared })
    }),
  )
}

const laneOf = ({ task }: LiveTask): string => (task.spec.handler === 'wait' ? 'shared' : 'thread')
const isFree = ({ task }: LiveTask): boolean => task.spec.concurrencyKey === '' && task.spec.handler !== 'few'

describe('whatever the tasks, slots and pace', () => {
  it('nothing starts early', () => {
    forAll((steps) => {
      for (const { now, started: next } of steps)
        expect(next.every(({ task }) => task.notBefore <= now)).toBe(true)
    })
  })

  it('slots, limits and keys are never exceeded', () => {
    forAll((steps, slots) => {
      for (const { running } of steps) {
        expect(running.filter((task) => laneOf(task) === 'thread').length).toBeLessThanOrEqual(slots.thread)
        expect(running.filter((task) => laneOf(task) === 'shared').length).toBeLessThanOrEqual(slots.shared)
        expect(running.filter(({ task }) => task.spec.handler === 'few').length).toBeLessThanOrEqual(2)
        const keys = running.map(({ task }) => task.spec.concurrencyKey).filter((each) => each !== '')
        expect(new Set(keys).size).toBe(keys.length)
      }
    })
  })

  it('no slot stays free while a task that nothing keeps is due', () => {
    forAll((steps, slots) => {
      for (const { running, waiting } of steps) {
        const busy = (lane: string): number => running.filter((task) => laneOf(task) === lane).length
        const isIdle = (lane: 'thread' | 'shared'): boolean => busy(lane) < slots[lane]
        const startable = waiting.filter(
          (task) => isFree(task) && isIdle(laneOf(task) as 'thread' | 'shared'),
        )
        expect(startable).toEqual([])
      }
    })
  })

  it('fairness: a due task is overtaken only by tasks due at most (difference of priorities) × step after it', () => {
    forAll((steps) => {
      for (const { started: next, waiting } of steps) {
        const overtaken = waiting.filter(isFree)
        const unfair = next.flatMap((winner) =>
          overtaken.filter(
            (loser) =>
              laneOf(loser) === laneOf(winner) &&
              winner.task.notBefore - loser.task.notBefore >
                (winner.task.spec.priority - loser.task.spec.priority) * PRIORITY_STEP_MS,
          ),
        )
        expect(unfair).toEqual([])
      }
    })
  })

  it('tasks of one key start in due order; of the others, the smallest start key is first', () => {
    forAll((steps) => {
      const order = steps.flatMap((step) => step.started)
      for (const name of ['a', 'b']) {
        for (const { started: next, waiting } of steps) {
          const winner = next.find(({ task }) => task.spec.concurrencyKey === name)
          const losers = waiting.filter(({ task }) => task.spec.concurrencyKey === name)
          const early = losers.filter(({ task }) => winner && task.notBefore < winner.task.notBefore)
          expect(early).toEqual([])
        }
      }
      for (const { started: next, waiting } of steps) {
        const best = Math.min(...waiting.filter((task) => isFree(task) && laneOf(task) === 'thread').map(key))
        const worst = Math.max(...next.filter((task) => laneOf(task) === 'thread').map(key))
        expect(worst).toBeLessThanOrEqual(best)
      }
      expect(new Set(order).size).toBe(order.length)
    })
  })
})
