import { firstRun } from './first-run.js'
import type { Instant } from './instant.js'
import { type EntryFacts, logEntry } from './log-entry.js'
import { withSpec } from './new-run.js'
import { afterRun } from './next-run.js'
import type { Transition } from './result.js'
import { afterSequel } from './sequel.js'
import type { EndState, Task } from './task.js'

/**
 * The current run has its result, the only one it will ever have. What follows: the replacement that waited, else the next run of the series, else the end.
 * A cancelled task has no next run, unless it was replaced after that.
 */
export function endRun(task: Task, state: EndState, facts: EntryFacts, now: Instant): Transition {
  const { replacement } = task
  if (replacement) {
    const { spec, dueTime } = replacement
    const start = firstRun(spec, now, task.run + 1, dueTime)
    if (start) {
      return {
        task: withSpec(task, spec, start, 'nextRun'),
        entries: [logEntry('result', task, facts)],
      }
    }
    // The `until` of its rule passed while it waited: nothing is left to run.
    const { replacement: _, ...alone } = task
    return ended({ ...alone, spec }, task, { kind: 'end', state, skipped: [] }, facts, now)
  }
  // Later than this by as long as the end was on its way here: what has passed since then did not overlap.
  const endedAt = Math.min(now, Math.ceil(facts.endTimeUs / 1_000))
  return ended(task, task, afterRun(task, state, { endedAt, now }), facts, now)
}

function ended(
  after: Task,
  task: Task,
  sequel: ReturnType<typeof afterRun>,
  facts: EntryFacts,
  now: Instant,
): Transition {
  const last = sequel.kind === 'end' && sequel.last === undefined
  return {
    task: afterSequel(after, sequel, now),
    entries: [logEntry('result', task, facts, last), ...sequel.skipped],
  }
}
