import { ended } from '../../server/task/attempt-end.js'
import { began } from '../../server/task/attempt-start.js'
import type { AttemptOutcome } from '../../server/task/outcome.js'
import { missedRuns } from '../../server/task/next-run.js'
import type { RecurrenceInput } from '../../server/task/recurrence/recurrence.js'
import { completeRecurrence } from '../../server/task/recurrence/validate-recurrence.js'
import type { TaskResult, Transition } from '../../server/task/result.js'
import { NO_PAYLOAD } from '../../server/task/task-spec.js'
import type { Task } from '../../server/task/task.js'
import type { GivenSpec } from './task-specs.js'
import { NOW, waitingTask } from './tasks.js'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A recurring task that was accepted at NOW, and what happens to it, told in milliseconds since NOW. */
export class SeriesStory {
  task: Task
  /** All that came into the log. */
  readonly results: TaskResult[] = []
  #startId = 0

  constructor(recurrence: RecurrenceInput, spec: GivenSpec = {}, changes: Partial<Task> = {}) {
    this.task = waitingTask({ id: 'report', ...spec, recurrence: completeRecurrence(recurrence) }, changes)
  }

  /** When the waiting run is due. */
  get due(): number {
    return this.task.dueTime - NOW
  }

  get series(): NonNullable<Task['series']> {
    if (!this.task.series) throw new Error('the task does not repeat')
    return this.task.series
  }

  /** The scheduler looks. @returns whether the waiting run starts. */
  look(at: number): boolean {
    const change = missedRuns(this.task, NOW + at)
    this.take(change)
    return change === undefined
  }

  /** The waiting run runs from `from` to `to`. */
  run(from: number, to = from, outcome: AttemptOutcome = { kind: 'succeeded', output: NO_PAYLOAD }): this {
    this.begin(from)
    return this.end(to, outcome)
  }

  begin(at: number): this {
    this.task = began(this.task, ++this.#startId, (NOW + at) * 1_000)
    return this
  }

  /** @param heardAt - When the end is dealt with. */
  end(at: number, outcome: AttemptOutcome = { kind: 'succeeded', output: NO_PAYLOAD }, heardAt = at): this {
    const micros = (NOW + at) * 1_000
    const ending = { outcome, startTimeUs: this.task.startTimeUs, endTimeUs: micros, workerId: 'thread-0' }
    this.take(ended(this.task, ending, NOW + heardAt, 0.5))
    return this
  }

  take(change: Transition | undefined): void {
    if (!change) return
    this.task = change.task
    this.results.push(...change.entries)
  }

  /** Results as a person tells them: 'run 1 succeeded', 'run 2 skipped 3 (overlap) at 4000', 'last'. */
  get told(): string[] {
    return this.results.map((result) => {
      const { run, outcome, skipReason, skippedCount, dueTime, last } = result
      const skip = skipReason ? ` ${skippedCount} (${skipReason})` : ''
      return `run ${run} ${outcome}${skip} due ${dueTime - NOW}${last ? ', last' : ''}`
    })
  }
}

/** The task waits for the run with this number, due so long after NOW. */
export const waitsFor = (run: number, due: number): object => ({
  state: 'scheduled',
  run,
  dueTime: NOW + due,
  notBefore: NOW + due,
  attempts: 0,
})
