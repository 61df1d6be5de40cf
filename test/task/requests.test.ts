import { describe, expect, it } from 'vitest'
import { TaskEndedError } from '../../server/task/errors.js'
import {
  cancel,
  expire,
  expiryOf,
  pause,
  replace,
  resume,
  retryEnded,
  runNow,
} from '../../server/task/requests.js'
import { taskSpec } from '../support/task-specs.js'
import { endedTask, NOW, runningTask, waitingTask } from '../support/tasks.js'

const LATER = NOW + 500
const ENDS = ['succeeded', 'failed', 'cancelled', 'expired'] as const
const backingOff = (): ReturnType<typeof waitingTask> =>
  waitingTask({ retry: { maxAttempts: 5 } }, { attempts: 2, startId: 7, notBefore: NOW + 9_000 })

describe('cancel', () => {
  it('of a waiting task is its result', () => {
    const change = cancel(waitingTask(), LATER)
    expect(change?.task).toMatchObject({ state: 'cancelled', endTime: LATER })
    expect(change?.entries).toMatchObject([
      {
        outcome: 'cancelled',
        cancelStage: 'neverStarted',
        startTimeUs: 0,
        endTimeUs: LATER * 1_000,
        last: true,
      },
    ])
  })

  it('of a task that backs off is the result of the open run', () => {
    expect(cancel(backingOff(), LATER)?.entries).toMatchObject([
      { kind: 'result', outcome: 'cancelled', attempts: 2, cancelStage: 'neverStarted' },
    ])
  })

  it('of a running task is a wish, noted', () => {
    const change = cancel(runningTask(), LATER)
    expect(change).toMatchObject({ task: { state: 'running', cancelRequested: true }, entries: [] })
  })

  it('of a task that may begin at any moment is a wish, noted', () => {
    const change = cancel(waitingTask(), LATER, true)
    expect(change).toMatchObject({ task: { state: 'scheduled', cancelRequested: true }, entries: [] })
  })

  it('twice changes nothing the second time', () => {
    expect(cancel(endedTask('cancelled'), LATER)).toBeUndefined()
    expect(cancel(runningTask({}, { cancelRequested: true }), LATER)).toBeUndefined()
  })

  it.each(['succeeded', 'failed', 'expired'] as const)('of a task that is %s is refused', (state) => {
    expect(() => cancel(endedTask(state), LATER)).toThrow(TaskEndedError)
  })

  it('drops the replacement that waited', () => {
    const task = runningTask({}, { replacement: { spec: taskSpec(), dueTime: LATER } })
    expect(cancel(task, LATER)?.task).not.toHaveProperty('replacement')
    const asked = { ...task, cancelRequested: true }
    expect(cancel(asked, LATER)?.task).not.toHaveProperty('replacement')
  })
})

describe('start_within', () => {
  it('ends a one-shot whose first attempt has not started in time', () => {
    const { task, entries } = expire(waitingTask({ startWithinMs: 100 }), LATER)
    expect(task.state).toBe('expired')
    expect(entries).toMatchObject([{ outcome: 'expired', attempts: 0, startTimeUs: 0, last: true }])
  })

  it('counts from the due time, for the first attempt only', () => {
    expect(expiryOf(waitingTask({ startWithinMs: 100, when: { kind: 'after', delayMs: 1_000 } }))).toBe(
      NOW + 1_100,
    )
    expect(expiryOf(waitingTask({ startWithinMs: 100 }, { attempts: 1 }))).toBe(Infinity)
    expect(expiryOf(waitingTask())).toBe(Infinity)
  })
})

describe('pause and resume', () => {
  it('are flags that a task keeps, whatever its state', () => {
    expect(pause(waitingTask(), LATER)?.task).toMatchObject({ state: 'scheduled', paused: true })
    expect(pause(runningTask(), LATER)?.task).toMatchObject({ state: 'running', paused: true })
    expect(resume(waitingTask({}, { paused: true }), LATER)?.task.paused).toBe(false)
  })

  it('are harmless when repeated', () => {
    expect(pause(waitingTask({}, { paused: true }), LATER)).toBeUndefined()
    expect(resume(waitingTask(), LATER)).toBeUndefined()
  })

  it.each(ENDS)('are refused when the task is %s', (state) => {
    expect(() => pause(endedTask(state), LATER)).toThrow(TaskEndedError)
    expect(() => resume(endedTask(state), LATER)).toThrow(TaskEndedError)
  })
})

describe('RunNow', () => {
  it('brings a waiting one-shot forward', () => {
    const task = waitingTask({ when: { kind: 'after', delayMs: 60_000 } })
    expect(runNow(task, LATER)?.task).toMatchObject({
      dueTime: LATER,
      notBefore: LATER,
      manual: true,
      run: 1,
    })
  })

  it('ends a back-off; the run keeps its due time', () => {
    expect(runNow(backingOff(), LATER)?.task).toMatchObject({ dueTime: NOW, notBefore: LATER, attempts: 2 })
  })

  it('changes nothing when it is due or running already', () => {
    expect(runNow(waitingTask(), LATER)).toBeUndefined()
    expect(runNow(runningTask(), LATER)).toBeUndefined()
  })

  it.each(ENDS)('is refused when the task is %s', (state) => {
    expect(() => runNow(endedTask(state), LATER)).toThrow(TaskEndedError)
  })
})

describe('a retry after the end', () => {
  it.each(['failed', 'cancelled', 'expired'] as const)('opens a new run of a task that is %s', (state) => {
    const task = { ...endedTask(state), interruptions: 1, cancelRequested: true }
    expect(retryEnded(task, LATER)).toMatchObject({
      task: {
        state: 'scheduled',
        run: 2,
        attempts: 0,
        interruptions: 0,
        dueTime: LATER,
        notBefore: LATER,
        cancelRequested: false,
        endTime: 0,
        spec: task.spec,
        startId: 7,
      },
      entries: [],
      reopen: true,
    })
  })

  it('opens what was paused before its end for good: an ended task could not be resumed', () => {
    const paused = { ...endedTask('failed'), paused: true }
    expect(retryEnded(paused, LATER)?.task.paused).toBe(false)
    expect(replace(paused, taskSpec(), '', LATER)?.task.paused).toBe(false)
    expect(replace({ ...waitingTask(), paused: true }, taskSpec(), '', LATER)?.task.paused).toBe(true)
  })

  it('leaves a live task as it is, and refuses one that succeeded', () => {
    expect(retryEnded(waitingTask(), LATER)).toBeUndefined()
    expect(retryEnded(runningTask(), LATER)).toBeUndefined()
    expect(() => retryEnded(endedTask('succeeded'), LATER)).toThrow(TaskEndedError)
  })
})

describe('REPLACE', () => {
  const other = taskSpec({ id: 'x', handler: 'other', when: { kind: 'after', delayMs: 1_000 } })

  it('takes the place of a waiting task at once, back-off included', () => {
    for (const task of [waitingTask(), backingOff()]) {
      const change = replace(task, other, 'r1', LATER)
      expect(change?.task).toMatchObject({
        state: 'scheduled',
        spec: other,
        run: 1,
        attempts: 0,
        dueTime: LATER + 1_000,
        notBefore: LATER + 1_000,
        requestId: 'r1',
        createTime: NOW,
      })
      expect(change?.entries).toEqual([])
    }
  })

  it('waits for the result of a run that is open; its delay counts from now', () => {
    const change = replace(runningTask(), other, 'r1', LATER)
    expect(change?.task).toMatchObject({
      state: 'running',
      replacement: { spec: other, dueTime: LATER + 1_000 },
      requestId: 'r1',
    })
    expect(replace(waitingTask(), other, 'r1', LATER, true)?.task.replacement?.spec).toBe(other)
  })

  it('the later one counts', () => {
    const first = replace(runningTask(), taskSpec(), 'r1', LATER)
    if (!first) throw new Error('the first one must hold')
    expect(replace(first.task, other, 'r2', LATER)?.task.replacement?.spec).toBe(other)
  })

  it.each(ENDS)('opens the next run of a task that is %s', (state) => {
    const change = replace(endedTask(state), other, '', LATER)
    expect(change?.task).toMatchObject({ state: 'scheduled', spec: other, run: 2, attempts: 0, endTime: 0 })
    expect(change?.reopen).toBe(true)
  })

  it('is harmless when the same request comes again, and holds again when it is another', () => {
    const task = waitingTask({}, { requestId: 'r1' })
    expect(replace(task, other, 'r1', LATER)).toBeUndefined()
    expect(replace(task, task.spec, 'r2', LATER)).toBeDefined()
    expect(replace(waitingTask(), other, '', LATER)).toBeDefined()
  })

  it('does not bring a task out of quarantine, unless it gets another handler', () => {
    const suspect = waitingTask({ handler: 'killer' }, { suspicions: 2, soloDeaths: 1 })
    expect(replace(suspect, taskSpec({ handler: 'killer' }), '', LATER)?.task).toMatchObject({
      suspicions: 2,
      soloDeaths: 1,
    })
    expect(replace(suspect, taskSpec({ handler: 'calm' }), '', LATER)?.task).toMatchObject({ suspicions: 0 })
  })
})
