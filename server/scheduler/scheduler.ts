import { LANES } from '../executor/executor.js'
import type { Recovery } from '../store/task-store.js'
import type { SchedulerError } from '../task/errors.js'
import type { Instant } from '../task/instant.js'
import { cancel, pause, replace, resume, retryEnded, runNow } from '../task/requests.js'
import type { Task } from '../task/task.js'
import type { TaskSpec } from '../task/task-spec.js'
import type { Ask } from './ask.js'
import type { LaneState } from './dispatch-core.js'
import { type BlockedReason, blockedReason } from './blocked-reason.js'
import { LookLoop } from './look-loop.js'
import type { LiveTask } from './live-task.js'
import { type Pulse, type RunningAttempt, runningAttempts, startable } from './pulse.js'
import { recover } from './recovery.js'
import { type SchedulerOptions, type SchedulerParts, schedulerOptions } from './scheduler-options.js'
import { wasSetBack } from './step-watch.js'

/** How things stand, for people and metrics. */
export interface SchedulerSnapshot {
  readonly lanes: readonly LaneState[]
  /** Tasks that wait in memory. */
  readonly near: number
  /** Tasks that are due and wait, also those that were too many to keep in memory. */
  readonly dueWaiting: number
  readonly draining: boolean
  /** Whether the store commits at present. */
  readonly storeAvailable: boolean
  /** When the last look was. */
  readonly lastLook: Instant
  /** When the next one has to be at the latest; Infinity: when something happens. */
  readonly nextLook: Instant
}

/** After the executor was closed, for the last endings to be stored. */
const LAST_ENDINGS_MS = 5_000

/** One answer for each, in the order of the question. */
export type Answers = Promise<readonly (Task | SchedulerError)[]>

/**
 * The single owner of live state: every change of an existing task goes through it, one at a time for each task. It computes new states with the pure rules
 * of `task/`, stores them, and starts each task when it is due and a slot is free, never before.
 *
 * @example
 * const scheduler = new Scheduler({ store, executor, handlers, clock: systemClock })
 * await scheduler.start(await store.open())
 */
export class Scheduler {
  readonly #parts: SchedulerParts
  readonly #options: SchedulerOptions
  readonly #loop: LookLoop
  #noteAllUntil = -Infinity
  #isDraining = false
  #whenQuiet: (() => void)[] = []
  #closed: Promise<void> | undefined

  constructor(parts: SchedulerParts, options?: Partial<SchedulerOptions>) {
    this.#parts = parts
    this.#options = schedulerOptions(options)
    this.#loop = new LookLoop(parts, this.#options, {
      noteAll: () => this.#parts.clock.steady() < this.#noteAllUntil,
      afterLook: () => this.#tellQuiet(),
    })
    this.#loop.isHeld = this.#options.hold
  }

  /** Takes up what the process before left behind, fills the window, begins to dispatch. @param recovery - What `store.open()` found. */
  async start(recovery: Recovery): Promise<void> {
    const { clock, executor, store } = this.#parts
    const now = store.now()
    if (!recovery.cleanStop) this.#noteAllUntil = clock.steady() + this.#options.noteAllMs
    executor.listen(this.#loop.attempts)
    for (const { task, transition } of recover(recovery, now)) {
      const live = this.#loop.take(task)
      if (transition) this.#loop.commits.add({ live, transition })
      else this.#loop.settling.goOn(live, now)
    }
    this.#loop.flush()
    if (wasSetBack(recovery, now)) this.#loop.wasSetBackMeanwhile()
    await this.#loop.load(now)
  }

  /** Ends a start with `hold`: from now on, due tasks start. */
  release(): void {
    this.#loop.isHeld = this.#isDraining
    this.#loop.wake()
  }

  /** Whether there is room for a new task in memory and it is due soon: what to say as `near` when it is inserted. */
  wantsNear(notBefore: Instant, priority: number): boolean {
    const { window, core } = this.#loop
    return window.wantsNear(notBefore, priority, this.#parts.store.now(), core.startable)
  }

  /** Tasks were inserted just now. @param near - What was said for each: those go into memory; the others are found when they are due. */
  accept(tasks: readonly Task[], near: readonly boolean[]): void {
    const now = this.#parts.store.now()
    tasks.forEach((task, i) => {
      if (!near[i]) {
        this.#loop.window.announce(task.notBefore)
        return
      }
      const live = this.#loop.take(task)
      if (!live.busy && live.task === task) this.#loop.settling.goOn(live, now)
    })
    this.#loop.wake()
  }

  /**
   * Cancels: a waiting task is CANCELLED at once; a running attempt is told to stop, and stopped by force after `graceMs`. Every answer is on disk.
   *
   * @returns for each the task as it is now, or why it cannot be cancelled: TaskNotFoundError, TaskEndedError, StoreUnavailableError.
   */
  cancel(ids: readonly string[], graceMs: number): Answers {
    const afterwards = (live: LiveTask, ask: Ask): boolean => {
      if (live.startId === 0) return false
      const mayNotHaveBegun = live.task.state === 'scheduled'
      if (mayNotHaveBegun) live.stopping = ask
      this.#parts.executor.stop(live.startId, graceMs)
      return mayNotHaveBegun
    }
    return this.#changeAll(ids, cancel, afterwards)
  }

  /** No attempt of these starts until `resume`; a running one goes on. */
  pause(ids: readonly string[]): Answers {
    return this.#changeAll(ids, pause)
  }

  resume(ids: readonly string[]): Answers {
    return this.#changeAll(ids, resume)
  }

  /** One run of each now, never beside another run of the same task. */
  runNow(ids: readonly string[]): Answers {
    return this.#changeAll(ids, runNow)
  }

  /** Runs FAILED, EXPIRED and CANCELLED tasks once more, with the spec they had. */
  retry(ids: readonly string[]): Answers {
    return this.#changeAll(ids, retryEnded)
  }

  /** New specs for tasks that are known: each holds from the next run on. `requestId`: a repeat of the last one changes nothing. */
  replace(requests: readonly { readonly spec: TaskSpec; readonly requestId: string }[]): Answers {
    return Promise.all(
      requests.map(({ spec, requestId }) =>
        this.#loop.changes.ask({
          id: spec.id,
          change: (task, now, handedOut) => replace(task, spec, requestId, now, handedOut),
        }),
      ),
    )
  }

  /** Why a task that is due does not start; undefined: nothing keeps it but a free slot. */
  blockedReason(task: Task): BlockedReason | undefined {
    const { core, tasks } = this.#loop
    return blockedReason(task, this.#parts.store.now(), { core, tasks, handlers: this.#parts.handlers })
  }

  snapshot(): SchedulerSnapshot {
    const { core, trouble, lastLook, nextLook } = this.#loop
    return {
      lanes: LANES.map((lane) => core.lane(lane)),
      near: core.waiting,
      dueWaiting: core.dueWaiting,
      draining: this.#isDraining,
      storeAvailable: !trouble.isThere,
      lastLook,
      nextLook,
    }
  }

  /** What tells from outside whether it moves. */
  pulse(): Pulse {
    const { core, tasks, trouble, isHeld, nextLook } = this.#loop
    return {
      starts: tasks.started,
      nextLook,
      startable: startable(core, this.#parts.store.now()),
      isHeld: isHeld || trouble.isThere,
    }
  }

  runningAttempts(): Iterable<RunningAttempt> {
    return runningAttempts(this.#loop.tasks)
  }

  /** Whether it has the task in its hands: in memory, or parked. */
  knows(id: string): boolean {
    const { core, tasks } = this.#loop
    return tasks.get(id) !== undefined || core.parked.groupOf(id) !== undefined
  }

  /** Looks as if it had just started: for a watchdog that sees it stand still. */
  lookAnew(): void {
    this.#loop.lookAnew()
  }

  /**
   * Starts nothing more and waits for what runs. @returns true: every attempt ended within `limitMs` and is stored; false: the rest was cut off, and will run again
   * after a restart, uncounted.
   */
  async drain(limitMs: number): Promise<boolean> {
    this.#isDraining = true
    this.#loop.isHeld = true
    const inTime = await this.#quiet(limitMs)
    if (!inTime) await this.#stopExecutor()
    return inTime
  }

  /** Ends all that runs, stores its endings, and looks no more. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#isDraining = true
    this.#loop.isHeld = true
    await this.#stopExecutor()
    this.#loop.stop()
  }

  async #stopExecutor(): Promise<void> {
    this.#loop.starter.close()
    await this.#parts.executor.close()
    if (!(await this.#quiet(LAST_ENDINGS_MS))) {
      this.#options.log.error('the last endings could not be stored: these tasks run again after a restart')
    }
  }

  /** @returns whether nothing was under way any more within `limitMs`. */
  #quiet(limitMs: number): Promise<boolean> {
    if (this.#loop.isQuiet) return Promise.resolve(true)
    return new Promise((resolve) => {
      const timer = this.#parts.clock.setTimer(limitMs, () => resolve(false))
      this.#whenQuiet.push(() => {
        timer.cancel()
        resolve(true)
      })
      this.#loop.wake()
    })
  }

  #tellQuiet(): void {
    if (this.#whenQuiet.length === 0 || !this.#loop.isQuiet) return
    const waiting = this.#whenQuiet
    this.#whenQuiet = []
    for (const tell of waiting) tell()
  }

  #changeAll(ids: readonly string[], change: Ask['change'], afterwards?: Ask['afterwards']): Answers {
    return Promise.all(
      ids.map((id) => this.#loop.changes.ask({ id, change, ...(afterwards && { afterwards }) })),
    )
  }
}
