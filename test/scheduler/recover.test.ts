import { describe, expect, it } from 'vitest'
import { recover } from '../../server/scheduler/recovery.js'
import type { Task } from '../../server/task/task.js'
import { NOW, runningTask, waitingTask } from '../support/tasks.js'

const LATER = NOW + 1_000
const after = (tasks: readonly Task[], cleanStop = false): (Task | undefined)[] =>
  recover({ tasks, cleanStop, logId: '', lastChange: 0 }, LATER).map(({ transition }) => transition?.task)

describe('what a process leaves behind', () => {
  it('simply waits, if it waited', () => {
    expect(after([waitingTask()])).toEqual([undefined])
  })

  it('is CANCELLED, if that was stored and the attempt had not begun', () => {
    expect(after([waitingTask({}, { cancelRequested: true })])).toMatchObject([{ state: 'cancelled' }])
  })

  it('is a suspect after an unclean stop, not after a clean one', () => {
    expect(after([runningTask()])).toMatchObject([{ state: 'scheduled', suspicions: 1, interruptions: 1 }])
    expect(after([runningTask()], true)).toMatchObject([
      { state: 'scheduled', suspicions: 0, interruptions: 1 },
    ])
  })

  it('dies alone only if no other suspect ran', () => {
    const suspect = (suspicions: number): Task => runningTask({}, { suspicions })
    expect(after([suspect(2), runningTask()])).toMatchObject([{ soloDeaths: 1 }, { soloDeaths: 0 }])
    expect(after([suspect(2), suspect(1)])).toMatchObject([{ soloDeaths: 0 }, { soloDeaths: 0 }])
  })
})
