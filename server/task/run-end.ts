import type { Instant } from './instant.js'
import { stateAfter } from './lifecycle.js'
import { type EntryFacts, logEntry } from './log-entry.js'
import { withNewRun, withSpec } from './new-run.js'
import { afterRun, firstRun } from './next-run.js'
import type { Transition } from './result.js'
import type { EndState, Task } from './task.js'

/**
 * The current run has its result, the only one it will ever have. What follows: the replacement that waited, else the next run of the series, else the end.
 * A cancelled task has no next run, unless it was replaced after that.
 */
export function endRun(task: Task, state: EndState, facts: EntryFacts, now: Instant): Transition {
  const { replacement } = task
  if (replacement) {
    const { spec, dueTime } = replacement
    // the instant that its due time or delay meant when it was accepted
    const start = firstRun({ ...spec, when: { kind: 'at', dueTime } }, now, task.run + 1)
    return {
      task: withSpec(task, spec, start, 'nextRun'),
      entries: [logEntry('result', task, facts)],
    }
  }
  if (state === 'cancelled') return ended(task, state, facts, now)
  const { next, endState, skipped } = afterRun(task, state, now)
  if (!next && skipped.length === 0) return ended(task, endState, facts, now)
  return {
    task: next ? withNewRun(task, next, 'nextRun') : atEnd(task, endState, now),
    entries: [logEntry('result', task, facts), ...skipped],
  }
}

function ended(task: Task, state: EndState, facts: EntryFacts, now: Instant): Transition {
  return {
    task: atEnd(task, state, now),
    entries: [logEntry('result', task, { ...facts, last: true })],
  }
}

function atEnd(task: Task, state: EndState, now: Instant): Task {
  return { ...task, state: stateAfter(task.state, state), startTimeUs: 0, endTime: now }
}
