import { describe, expect, it } from 'vitest'
import { type Interruption, interrupted, isQuarantined } from '../../server/task/interruption.js'
import { NOW, runningTask } from '../support/tasks.js'

const LATER = NOW + 500
const death = (more: Partial<Interruption> = {}): Interruption => ({
  reason: 'the server died',
  suspect: true,
  alone: false,
  endTimeUs: LATER * 1_000,
  workerId: '',
  ...more,
})

describe('a task that ran when the server died', () => {
  it('runs again at once, where it was in the order', () => {
    const { task, entries } = interrupted(runningTask({}, { notBefore: NOW - 60_000 }), death(), LATER)
    expect(task).toMatchObject({ state: 'scheduled', notBefore: NOW - 60_000, attempts: 1, interruptions: 1 })
    expect(entries).toMatchObject([
      { kind: 'attempt', error: { code: 'INTERRUPTED' }, startTimeUs: NOW * 1_000, endTimeUs: LATER * 1_000 },
    ])
  })

  it('is a suspect, and in quarantine from the second death on', () => {
    const first = interrupted(runningTask(), death(), LATER).task
    expect(isQuarantined(first)).toBe(false)
    const second = interrupted({ ...runningTask(), suspicions: 1 }, death(), LATER).task
    expect(isQuarantined(second)).toBe(true)
  })

  it('has nothing held against it before it is in quarantine, nor when another suspect ran', () => {
    expect(
      interrupted(runningTask({}, { suspicions: 1 }), death({ alone: true }), LATER).task.soloDeaths,
    ).toBe(0)
    expect(interrupted(runningTask({}, { suspicions: 2 }), death(), LATER).task.soloDeaths).toBe(0)
    expect(
      interrupted(runningTask({}, { suspicions: 2 }), death({ alone: true }), LATER).task.soloDeaths,
    ).toBe(1)
  })

  it('is FAILED with the third death alone in quarantine', () => {
    const killer = runningTask({}, { suspicions: 4, soloDeaths: 2, attempts: 5, interruptions: 4 })
    const { task, entries } = interrupted(killer, death({ alone: true }), LATER)
    expect(task).toMatchObject({ state: 'failed', interruptions: 5, lastError: { code: 'INTERRUPTED' } })
    expect(entries).toMatchObject([
      { kind: 'result', outcome: 'failed', error: { code: 'INTERRUPTED' }, last: true },
    ])
  })

  it('is CANCELLED if that was asked for', () => {
    const { task, entries } = interrupted(runningTask({}, { cancelRequested: true }), death(), LATER)
    expect(task.state).toBe('cancelled')
    expect(entries).toMatchObject([{ outcome: 'cancelled', cancelStage: 'terminated' }])
  })

  it('is FAILED if it may be started at most once', () => {
    expect(interrupted(runningTask({ atMostOnce: true }), death(), LATER).task.state).toBe('failed')
  })
})

describe('a task that our own shutdown cut off', () => {
  it('is no suspect', () => {
    const task = runningTask({}, { suspicions: 2, soloDeaths: 2 })
    expect(interrupted(task, death({ suspect: false, alone: true }), LATER).task).toMatchObject({
      state: 'scheduled',
      suspicions: 2,
      soloDeaths: 2,
      interruptions: 1,
    })
  })
})
