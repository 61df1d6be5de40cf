import { describe, expect, it } from 'vitest'
import { NEXT_STATE, stateAfter, type TaskEvent } from '../../server/task/lifecycle.js'
import type { TaskState } from '../../server/task/task.js'

const EVENTS: readonly TaskEvent[] = [
  'began',
  'notBegun',
  'willRetry',
  'interrupted',
  'nextRun',
  'replaced',
  'reopened',
  'succeeded',
  'failed',
  'cancelled',
  'expired',
]

// one row a state, one column an event in the order above; '-' = must not happen
const TABLE: Readonly<Record<TaskState, string>> = {
  scheduled: 'running scheduled - - scheduled scheduled - succeeded failed cancelled expired',
  running: '- scheduled scheduled scheduled scheduled - - succeeded failed cancelled -',
  succeeded: '- - - - - - scheduled - - - -',
  failed: '- - - - - - scheduled - - - -',
  cancelled: '- - - - - - scheduled - - - -',
  expired: '- - - - - - scheduled - - - -',
}

describe('the life of a task', () => {
  const cells = Object.entries(TABLE).flatMap(([state, row]) =>
    row.split(' ').map((after, i) => [state, EVENTS[i], after] as [TaskState, TaskEvent, TaskState | '-']),
  )

  it('knows every state and every event', () => {
    expect(cells).toHaveLength(Object.keys(NEXT_STATE).length * EVENTS.length)
    const used = Object.values(NEXT_STATE).flatMap((row) => Object.keys(row))
    expect(new Set(used)).toEqual(new Set(EVENTS))
  })

  it.each(cells.filter(([, , after]) => after !== '-'))('%s, then %s: %s', (state, event, after) => {
    expect(stateAfter(state, event)).toBe(after)
  })

  it.each(cells.filter(([, , after]) => after === '-').map(([state, event]) => [state, event] as const))(
    '%s, then %s: must not happen',
    (state, event) => {
      expect(() => stateAfter(state, event)).toThrow(`a task that is ${state} cannot be ${event}`)
    },
  )
})
