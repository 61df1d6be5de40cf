import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { draftOf, numbered } from '../../server/task/draft.js'
import { anyLaterState, anyNewTask } from '../store/any-task.js'

describe('a draft of a task', () => {
  it('has every field of the task, and none that the task has not', () => {
    const states = fc.constantFrom('scheduled' as const, 'running' as const, 'failed' as const)
    const anyTask = anyNewTask.chain((task) =>
      anyLaterState({ ...task, arrival: 1 }, states, { newSpec: true }),
    )
    fc.assert(
      fc.property(anyTask, fc.nat(), (task, arrival) => {
        expect(draftOf(task)).toEqual({ ...task })
        expect(Object.keys(draftOf(task)).toSorted()).toEqual(Object.keys(task).toSorted())
        expect(numbered(task, arrival)).toEqual({ ...task, arrival })
      }),
    )
  })

  it('can be changed without the task noticing', () => {
    const [task] = fc.sample(anyNewTask, 1)
    if (!task) throw new Error('no sample')
    const { run } = task
    numbered(task, 1).run++
    expect(task.run).toBe(run)
  })
})
