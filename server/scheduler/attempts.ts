import type { AttemptEnd, ExecutorEvents } from '../executor/executor.js'
import { ended } from '../task/attempt-end.js'
import { began, notBegun } from '../task/attempt-start.js'
import { draftOf } from '../task/draft.js'
import type { Instant } from '../task/instant.js'
import type { Log } from '../task/log.js'
import { cancelWaiting } from '../task/requests.js'
import type { Commits } from './commits.js'
import type { DispatchCore } from './dispatch-core.js'
import type { LiveTask } from './live-task.js'
import type { LiveTasks } from './live-tasks.js'
import type { StartNotes } from './start-notes.js'

export interface AttemptsParts {
  readonly core: DispatchCore
  readonly tasks: LiveTasks
  readonly commits: Commits
  readonly notes: StartNotes
  readonly log: Log
  /** In [0, 1). */
  readonly random: () => number
  /** Something happened: look soon. */
  readonly wake: () => void
  /** The task is free: what waits for it can go on. */
  readonly goOn: (live: LiveTask) => void
}

/** What the executor tells of attempts, and what follows from it. Only the attempt that is handed out is listened to: whatever comes later is refused. */
export class Attempts implements ExecutorEvents {
  readonly #parts: AttemptsParts
  readonly #lingering = new Map<number, LiveTask>()
  /** Their attempts are over, or never began. */
  #over: LiveTask[] = []

  constructor(parts: AttemptsParts) {
    this.#parts = parts
  }

  began(starts: Parameters<ExecutorEvents['began']>[0]): void {
    for (const { startId, startTimeUs } of starts) {
      const live = this.#parts.tasks.byStart(startId)
      if (!live || live.end || live.returned) this.#refuse('a start', startId)
      else {
        live.begunUs = Math.max(startTimeUs, live.decidedUs)
        if (!live.busy) this.noteBegun(live)
      }
    }
    this.#parts.wake()
  }

  ended(ends: readonly AttemptEnd[]): void {
    for (const end of ends) {
      const live = this.#parts.tasks.byStart(end.startId)
      if (!live || live.end || live.returned) this.#refuse('an ending', end.startId)
      else {
        live.end = end
        if (end.lingering) {
          live.lingering = true
          this.#lingering.set(end.startId, live)
        } else {
          this.#parts.core.slotFreed(live)
        }
        if (!live.busy) this.#over.push(live)
      }
    }
    this.#parts.wake()
  }

  returned(startIds: readonly number[]): void {
    for (const startId of startIds) {
      const live = this.#parts.tasks.byStart(startId)
      if (!live || live.end || live.returned) this.#refuse('a return', startId)
      else {
        live.returned = true
        this.#parts.core.slotFreed(live)
        if (!live.busy) this.#over.push(live)
      }
    }
    this.#parts.wake()
  }

  released(startIds: readonly number[]): void {
    for (const startId of startIds) {
      const live = this.#lingering.get(startId)
      if (!live) continue
      this.#lingering.delete(startId)
      live.lingering = false
      this.#parts.core.slotFreed(live)
      if (!live.busy && !live.end) this.#parts.goOn(live)
    }
    this.#parts.wake()
  }

  /** Deals with the attempts that are over. */
  process(now: Instant): void {
    if (this.#over.length === 0) return
    const over = this.#over
    this.#over = []
    for (const live of over) this.conclude(live, now)
  }

  /** Takes a start that was told into the task's state. */
  noteBegun(live: LiveTask): void {
    const { task, begunUs, startId } = live
    live.begunUs = 0
    if (task.state === 'running') {
      const noted = draftOf(task)
      noted.startTimeUs = begunUs
      live.task = noted
    } else {
      live.task = began(task, startId, begunUs)
      this.#parts.notes.add(live)
    }
    if (!live.stopping) return
    live.stopping.answer(live.task)
    live.stopping = undefined
  }

  /** The handed-out attempt is over: its ending goes to the store, or the task goes back to where it was. */
  conclude(live: LiveTask, now: Instant): void {
    const { end } = live
    const { commits, tasks, core, random } = this.#parts
    live.end = undefined
    live.returned = false
    tasks.takeBack(live)
    if (!end || (end.outcome.kind === 'cancelled' && end.outcome.stage === 'neverStarted')) {
      this.#goBack(live, now)
      return
    }
    const startTimeUs = Math.max(end.startTimeUs, live.decidedUs)
    if (live.task.state !== 'running') live.task = began(live.task, end.startId, startTimeUs)
    live.begunUs = 0
    core.work.measure(live.task.spec.handler, (end.endTimeUs - end.startTimeUs) / 1_000)
    commits.add({ live, transition: ended(live.task, { ...end, startTimeUs }, now, random()) })
  }

  /** It never began. A cancel that came meanwhile ends it here; a start that was noted ahead is taken back. */
  #goBack(live: LiveTask, now: Instant): void {
    const { task } = live
    live.begunUs = 0
    const waiting = notBegun(task)
    if (task.cancelRequested) this.#parts.commits.add({ live, transition: cancelWaiting(waiting, now) })
    else if (task.state === 'running')
      this.#parts.commits.add({ live, transition: { task: waiting, entries: [] } })
    else this.#parts.goOn(live)
  }

  #refuse(what: string, startId: number): void {
    this.#parts.log.warn('the executor told of an attempt that is not the current one: refused', {
      what,
      startId,
    })
  }
}
