import { describe, expect, it } from 'vitest'
import { ended } from '../../server/task/attempt-end.js'
import type { AttemptEnding } from '../../server/task/log-entry.js'
import type { AttemptOutcome } from '../../server/task/outcome.js'
import { failure } from '../support/outcomes.js'
import { NOW, runningTask } from '../support/tasks.js'

const LATER = NOW + 500
const ending = (outcome: AttemptOutcome, more: Partial<AttemptEnding> = {}): AttemptEnding => ({
  outcome,
  startTimeUs: NOW * 1_000 + 7,
  endTimeUs: LATER * 1_000 + 9,
  workerId: 'thread-1',
  ...more,
})
const SUCCESS: AttemptOutcome = { kind: 'succeeded', output: { kind: 'json', text: '1' } }

describe('an attempt that succeeds', () => {
  it('ends the task with the one result of its run', () => {
    const { task, entries } = ended(runningTask(), ending(SUCCESS), LATER, 0)
    expect(task).toMatchObject({ state: 'succeeded', startTimeUs: 0, endTime: LATER })
    expect(entries).toEqual([
      expect.objectContaining({
        kind: 'result',
        outcome: 'succeeded',
        output: { kind: 'json', text: '1' },
        attempts: 1,
        startTimeUs: NOW * 1_000 + 7,
        endTimeUs: LATER * 1_000 + 9,
        workerId: 'thread-1',
        last: true,
      }),
    ])
  })

  it('forgets how the attempt before it failed', () => {
    const error = { code: 'X', message: '', stack: '', name: '', cause: '' }
    const { task } = ended(runningTask({}, { lastError: error }), ending(SUCCESS), LATER, 0)
    expect(task).not.toHaveProperty('lastError')
  })

  it('never ends before it began, whatever two threads read from their clocks', () => {
    const { entries } = ended(runningTask(), ending(SUCCESS, { endTimeUs: 0 }), LATER, 0)
    expect(entries[0]?.endTimeUs).toBe(NOW * 1_000 + 7)
  })
})

describe('the trace of a result', () => {
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

  it("is the caller's for the first attempt of the first run", () => {
    const { entries } = ended(runningTask({ traceparent }), ending(SUCCESS), LATER, 0)
    expect(entries[0]?.traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736')
  })

  it('is what the executor says for later ones, which are traces of their own', () => {
    const retried = runningTask({ traceparent }, { attempts: 2 })
    expect(ended(retried, ending(SUCCESS, { traceId: 'abc' }), LATER, 0).entries[0]?.traceId).toBe('abc')
    expect(ended(retried, ending(SUCCESS), LATER, 0).entries[0]?.traceId).toBe('')
  })
})

describe('an attempt that fails', () => {
  const retry = { maxAttempts: 3, initialBackoffMs: 1_000, jitterRatio: 0 }

  it('ends the run when it was the only one allowed', () => {
    const { task, entries } = ended(runningTask(), ending(failure('BAD')), LATER, 0)
    expect(task).toMatchObject({ state: 'failed', lastError: { code: 'BAD' } })
    expect(entries).toMatchObject([{ kind: 'result', outcome: 'failed', error: { code: 'BAD' }, last: true }])
  })

  it('is retried after the back-off while attempts are left, and leaves an entry of its own', () => {
    const { task, entries } = ended(runningTask({ retry }), ending(failure('BAD')), LATER, 0)
    expect(task).toMatchObject({
      state: 'scheduled',
      notBefore: LATER + 1_000,
      dueTime: NOW,
      attempts: 1,
      startTimeUs: 0,
      lastError: { code: 'BAD' },
    })
    expect(entries).toMatchObject([{ kind: 'attempt', outcome: 'failed', attempts: 1, last: false }])
  })

  it('waits longer after each failure', () => {
    const { task } = ended(runningTask({ retry }, { attempts: 2 }), ending(failure()), LATER, 0)
    expect(task.notBefore).toBe(LATER + 2_000)
  })

  it('moves the back-off at random within the jitter', () => {
    const jittery = runningTask({ retry: { ...retry, jitterRatio: 0.2 } })
    expect(ended(jittery, ending(failure()), LATER, 0).task.notBefore).toBe(LATER + 800)
    expect(ended(jittery, ending(failure()), LATER, 0.5).task.notBefore).toBe(LATER + 1_000)
  })

  it('ends the run after the last attempt', () => {
    const { task, entries } = ended(runningTask({ retry }, { attempts: 3 }), ending(failure()), LATER, 0)
    expect(task).toMatchObject({ state: 'failed', attempts: 3 })
    expect(entries).toMatchObject([{ kind: 'result', outcome: 'failed', attempts: 3 }])
  })

  it('does not count attempts that were cut off', () => {
    const task = runningTask({ retry }, { attempts: 5, interruptions: 3 })
    expect(ended(task, ending(failure()), LATER, 0).task).toMatchObject({
      state: 'scheduled',
      notBefore: LATER + 2_000,
    })
  })

  it('ends the run at once when the handler says that a retry makes no sense', () => {
    expect(ended(runningTask({ retry }), ending(failure('BAD', false)), LATER, 0).task.state).toBe('failed')
  })

  it('ends the run at once when its code is one of those not to retry', () => {
    const task = runningTask({ retry: { ...retry, nonRetryableCodes: ['BAD'] } })
    expect(ended(task, ending(failure('BAD')), LATER, 0).task.state).toBe('failed')
    expect(ended(task, ending(failure('WORSE')), LATER, 0).task.state).toBe('scheduled')
  })
})

describe('an attempt that takes too long', () => {
  const outcome: AttemptOutcome = { kind: 'timedOut', stage: 'terminated' }

  it('is TIMED_OUT, and the task FAILED', () => {
    const { task, entries } = ended(runningTask({ attemptTimeoutMs: 400 }), ending(outcome), LATER, 0)
    expect(task).toMatchObject({ state: 'failed', lastError: { code: 'TIMED_OUT' } })
    expect(entries).toMatchObject([{ outcome: 'timedOut', error: { code: 'TIMED_OUT' } }])
    expect(entries[0]?.error?.message).toContain('400 ms')
  })

  it('is retried like a failure, unless its code says no', () => {
    const retry = { maxAttempts: 2 }
    expect(ended(runningTask({ retry }), ending(outcome), LATER, 0).task.state).toBe('scheduled')
    const not = runningTask({ retry: { ...retry, nonRetryableCodes: ['TIMED_OUT'] } })
    expect(ended(not, ending(outcome), LATER, 0).task.state).toBe('failed')
  })
})

describe('an attempt of a task that is to be cancelled', () => {
  it.each([
    ['returned', SUCCESS, 'cooperative'],
    ['threw', failure(), 'cooperative'],
    ['stopped when told', { kind: 'cancelled', stage: 'cooperative' }, 'cooperative'],
    ['was stopped by force', { kind: 'cancelled', stage: 'terminated' }, 'terminated'],
    ['timed out by force', { kind: 'timedOut', stage: 'terminated' }, 'terminated'],
    ['was cut off', { kind: 'interrupted', reason: 'x' }, 'terminated'],
  ] as const)('is CANCELLED although it %s', (_, outcome, cancelStage) => {
    const retry = { maxAttempts: 3 }
    const { task, entries } = ended(
      runningTask({ retry }, { cancelRequested: true }),
      ending(outcome),
      LATER,
      0,
    )
    expect(task).toMatchObject({ state: 'cancelled', endTime: LATER })
    expect(entries).toMatchObject([{ kind: 'result', outcome: 'cancelled', cancelStage, last: true }])
  })
})

describe('an attempt that was cut off', () => {
  it('runs again at once and is not counted', () => {
    const { task, entries } = ended(
      runningTask({}, { notBefore: NOW }),
      ending({ kind: 'interrupted', reason: 'the server stops' }),
      LATER,
      0,
    )
    expect(task).toMatchObject({
      state: 'scheduled',
      notBefore: NOW,
      attempts: 1,
      interruptions: 1,
      suspicions: 0,
    })
    expect(entries).toMatchObject([
      { kind: 'attempt', outcome: 'failed', error: { code: 'INTERRUPTED' }, interruptions: 1 },
    ])
  })

  it('in a shared thread that died is a suspect', () => {
    const outcome: AttemptOutcome = { kind: 'interrupted', reason: 'the thread died', suspect: true }
    expect(ended(runningTask(), ending(outcome), LATER, 0).task.suspicions).toBe(1)
  })

  it('ends an at-most-once task: it is never started twice', () => {
    const { task, entries } = ended(
      runningTask({ atMostOnce: true }),
      ending({ kind: 'interrupted', reason: 'the server stops' }),
      LATER,
      0,
    )
    expect(task.state).toBe('failed')
    expect(entries).toMatchObject([{ kind: 'result', outcome: 'failed', error: { code: 'INTERRUPTED' } }])
  })

  it('stopped although nobody cancelled it, runs again', () => {
    const { task } = ended(runningTask(), ending({ kind: 'cancelled', stage: 'terminated' }), LATER, 0)
    expect(task).toMatchObject({ state: 'scheduled', interruptions: 1 })
  })
})

describe('a replacement that waited', () => {
  const replaced = (): ReturnType<typeof runningTask> => {
    const task = runningTask({ id: 'a' })
    return { ...task, replacement: { spec: { ...task.spec, handler: 'other' }, dueTime: LATER + 9_000 } }
  }

  it('takes over as the next run when this one has its result', () => {
    const { task, entries } = ended(replaced(), ending(SUCCESS), LATER, 0)
    expect(task).toMatchObject({ state: 'scheduled', run: 2, attempts: 0, dueTime: LATER + 9_000 })
    expect(task.spec.handler).toBe('other')
    expect(task).not.toHaveProperty('replacement')
    expect(entries).toMatchObject([{ run: 1, outcome: 'succeeded', last: false, handler: 'work' }])
  })

  it('waits while the run has attempts left', () => {
    const task = {
      ...replaced(),
      spec: { ...replaced().spec, retry: { ...replaced().spec.retry, maxAttempts: 2 } },
    }
    const next = ended(task, ending(failure()), LATER, 0)
    expect(next.task).toMatchObject({ state: 'scheduled', run: 1, attempts: 1 })
    expect(next.task.replacement?.spec.handler).toBe('other')
  })

  it('takes over after a failure and after a cancel, too', () => {
    expect(ended(replaced(), ending(failure()), LATER, 0).task).toMatchObject({ state: 'scheduled', run: 2 })
    const cancelled = ended({ ...replaced(), cancelRequested: true }, ending(SUCCESS), LATER, 0)
    expect(cancelled.task).toMatchObject({ state: 'scheduled', run: 2, cancelRequested: false })
    expect(cancelled.entries).toMatchObject([{ outcome: 'cancelled', last: false }])
  })
})
