import { InvalidRequestError } from './errors.js'
import type { Instant } from './instant.js'
import type { RunStart } from './new-run.js'
import { firstSlot, type Slot } from './recurrence/slots.js'
import { freshSeries } from './series.js'
import type { TaskSpec } from './task-spec.js'

/**
 * The first run of a spec that is accepted at `now`: a due time that has passed becomes the instant of acceptance. Undefined: its rule has no run at all, since
 * `until` comes before the first.
 *
 * @param run - Its number: 1, or more when the spec replaces an earlier one.
 * @param dueTime - What `when` means, if that was fixed before: a delay counts from when it was accepted.
 */
export function firstRun(
  spec: TaskSpec,
  now: Instant,
  run = 1,
  dueTime = askedDueTime(spec, now),
): RunStart | undefined {
  const due = Math.max(now, dueTime)
  if (!spec.recurrence) return { run, dueTime: due, manual: false }
  const first: Slot | undefined = firstSlot(spec.recurrence, { id: spec.id, acceptedAt: now, dueTime: due })
  return first && { run, dueTime: first.due, manual: false, series: freshSeries(first.slot) }
}

/** The instant that the caller's `when` means at `now`. */
export function askedDueTime({ when }: TaskSpec, now: Instant): Instant {
  switch (when.kind) {
    case 'now':
      return now
    case 'at':
      return Math.max(now, when.dueTime)
    case 'after':
      return now + when.delayMs
  }
}

/** Whether a spec that is accepted at `now` has any run at all: `until` may come before the first. */
export const everRuns = (spec: TaskSpec, now: Instant): boolean => firstRun(spec, now) !== undefined

/** The refusal of a spec that has none. */
export function noRunLeft(): InvalidRequestError {
  const description = 'no run is due by then: choose a later instant, or leave it out'
  return new InvalidRequestError([{ field: 'task.recurrence.until', description }])
}
