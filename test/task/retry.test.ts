import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pulledIn } from '../../server/task/clock-step.js'
import { backoffMs, DEFAULT_RETRY } from '../../server/task/retry.js'
import { NOW, runningTask, waitingTask } from '../support/tasks.js'

describe('the back-off', () => {
  it('C066: neither overflows nor falls to nothing, whatever the multiplier', () => {
    const policy = {
      ...DEFAULT_RETRY,
      initialBackoffMs: 10,
      backoffMultiplier: 1_000_000,
      maxBackoffMs: 300,
      jitterRatio: 0,
    }
    expect([1, 2, 3, 4, 5, 500, 1_000].map((failed) => backoffMs(policy, failed, 0.5))).toEqual([
      10, 300, 300, 300, 300, 300, 300,
    ])
  })

  it('is whole milliseconds within the jitter around the capped value', () => {
    const policy = fc.record({
      initialBackoffMs: fc.integer({ min: 1, max: 100_000_000 }),
      backoffMultiplier: fc.double({ min: 1, max: 1e9, noNaN: true }),
      maxBackoffMs: fc.integer({ min: 1, max: 31_622_400_000 }),
      jitterRatio: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    fc.assert(
      fc.property(policy, fc.integer({ min: 1, max: 1_000 }), random, (given, failed, r) => {
        const wait = backoffMs({ ...DEFAULT_RETRY, ...given }, failed, r)
        const most = Math.min(
          given.maxBackoffMs,
          given.initialBackoffMs * given.backoffMultiplier ** (failed - 1),
        )
        expect(Number.isSafeInteger(wait)).toBe(true)
        expect(wait).toBeGreaterThanOrEqual(Math.floor(most * (1 - given.jitterRatio)))
        expect(wait).toBeLessThanOrEqual(Math.ceil(most * (1 + given.jitterRatio)))
      }),
    )
  })
})

describe('a wall clock that was set back', () => {
  const retry = { maxAttempts: 5, initialBackoffMs: 1_000, jitterRatio: 0.2 }

  it('pulls a back-off in to the longest that its policy allows', () => {
    const task = waitingTask({ retry }, { attempts: 1, notBefore: NOW + 3_600_000 })
    expect(pulledIn(task, NOW)).toEqual({ task: { ...task, notBefore: NOW + 1_200 }, entries: [] })
  })

  it('leaves alone what is within it, what somebody asked for, and what runs', () => {
    expect(pulledIn(waitingTask({ retry }, { attempts: 1, notBefore: NOW + 1_100 }), NOW)).toBeUndefined()
    expect(pulledIn(waitingTask({ retry, when: { kind: 'after', delayMs: 3_600_000 } }), NOW)).toBeUndefined()
    expect(pulledIn(runningTask({ retry }), NOW)).toBeUndefined()
  })
})
