import type { Timer } from '../clock.js'
import { pulledIn } from '../task/clock-step.js'
import type { Instant } from '../task/instant.js'
import { isLive, type Task } from '../task/task.js'
import { Attempts } from './attempts.js'
import { Changes } from './changes.js'
import { Commits } from './commits.js'
import { DispatchCore } from './dispatch-core.js'
import { LiveTask } from './live-task.js'
import { LiveTasks } from './live-tasks.js'
import { Parking } from './parking.js'
import { Placing } from './placing.js'
import { pullInOutside } from './pull-in.js'
import type { SchedulerOptions, SchedulerParts } from './scheduler-options.js'
import { Settling } from './settling.js'
import { StartIds } from './start-ids.js'
import { StartNotes } from './start-notes.js'
import { Starter } from './starter.js'
import { LEAST_STEP_MS, StepWatch } from './step-watch.js'
import { StoreTrouble } from './store-trouble.js'
import { Window } from './window.js'

/** Tasks that a load brings at least when slots are free and what is in memory may not start yet. */
const LEAST_LOAD = 256

/**
 * The look: reads the clock, deals with all that has come together since the last one (endings, changes, what fell due), starts what can start, sends one batch
 * to the store, and sets the alarm for the next. Everything else only leaves something for it and wakes it.
 */
export class LookLoop {
  readonly core: DispatchCore
  readonly tasks = new LiveTasks()
  readonly changes: Changes
  readonly attempts: Attempts
  readonly commits: Commits
  readonly starter: Starter
  readonly trouble: StoreTrouble
  readonly settling: Settling
  readonly window: Window
  /** While true, nothing starts. */
  isHeld = false
  lastLook: Instant = -Infinity
  readonly #parts: SchedulerParts
  readonly #options: SchedulerOptions
  readonly #ids: StartIds
  readonly #notes: StartNotes
  readonly #placing: Placing
  readonly #parking: Parking
  readonly #steps: StepWatch
  readonly #afterLook: () => void
  #nextLook: Instant = -Infinity
  #alarm: { readonly timer: Timer; readonly at: Instant } | undefined
  #isAwake = false
  #isStopped = false

  constructor(
    parts: SchedulerParts,
    options: SchedulerOptions,
    hooks: { readonly noteAll: () => boolean; readonly afterLook: () => void },
  ) {
    const { store, executor, handlers, clock } = parts
    const { preset, log, random, priorityStepMs } = options
    this.#parts = parts
    this.#options = options
    this.#afterLook = hooks.afterLook
    const slots = {
      thread: Math.min(executor.slots.thread, preset.slots.thread),
      shared: Math.min(executor.slots.shared, preset.slots.shared),
    }
    const failed = (error: unknown): void => this.trouble.failed(error)
    const wake = (): void => this.wake()
    const goOn = (live: LiveTask): void => this.settling.goOn(live, store.now())
    const { tasks } = this
    const { atOnce } = preset
    this.core = new DispatchCore({ pending: preset.pending(), handlers, slots, atOnce, priorityStepMs })
    this.window = new Window(store, options)
    this.trouble = new StoreTrouble(clock, log, () => void this.#probe())
    this.commits = new Commits(store, clock, log, this.trouble, (commit, answer) => {
      this.settling.settled(commit, answer, store.now())
      this.wake()
    })
    const { core, commits, trouble, window } = this
    this.#ids = new StartIds(store, options.startIdBlock, wake, failed)
    this.#notes = new StartNotes(store, failed)
    this.#placing = new Placing({ core, tasks, window, store, onFailed: failed })
    const { capacity } = options
    this.#parking = new Parking({ core, tasks, store, capacity, goOn, wake, onFailed: failed })
    this.#steps = new StepWatch(clock, store.now())
    this.changes = new Changes({ store, core, tasks, commits, trouble, wake, goOn })
    this.attempts = new Attempts({ core, tasks, commits, notes: this.#notes, log, random, wake, goOn })
    const { attempts, changes } = this
    this.settling = new Settling({ core, tasks, placing: this.#placing, attempts, changes, log })
    this.starter = new Starter({
      core,
      tasks,
      commits,
      trouble,
      ids: this.#ids,
      store,
      executor,
      noteAll: hooks.noteAll,
      goOn,
    })
  }

  /** Nothing is under way: no attempt, no change, nothing on its way to the store. */
  get isQuiet(): boolean {
    return this.tasks.handedOut === 0 && this.commits.open === 0 && this.changes.open === 0
  }

  get nextLook(): Instant {
    return this.#alarm?.at ?? Infinity
  }

  /** Looks as soon as what is happening now is over: all that the same turn of the event loop brings is one batch. */
  wake(): void {
    if (this.#isAwake || this.#isStopped) return
    this.#isAwake = true
    setImmediate(() => {
      this.#isAwake = false
      this.look()
    })
  }

  /** Takes a task into memory that the store has handed to this scheduler. */
  take(task: Task): LiveTask {
    const known = this.tasks.get(task.spec.id)
    if (known) {
      // a change of it is under way here: what that makes of it is the newer
      known.taken = true
      return known
    }
    const live = new LiveTask(task, true)
    this.tasks.add(live)
    return live
  }

  /** Sends what has come together to the store. */
  flush(): void {
    this.commits.flush()
    this.#placing.flush()
  }

  /** Deals with a step back of the wall clock that was made while no server ran. */
  wasSetBackMeanwhile(): void {
    const { store } = this.#parts
    this.#options.log.warn('the wall clock was set back while the server was down')
    void pullInOutside(store, this.changes, this.#options.log)
  }

  /** Forgets what was believed of the time and of the tasks on disk, and looks. */
  lookAnew(): void {
    this.window.reset()
    this.#nextLook = -Infinity
    this.look()
  }

  stop(): void {
    this.#isStopped = true
    this.#alarm?.timer.cancel()
    this.trouble.stop()
  }

  look(): void {
    if (this.#isStopped) return
    const { store } = this.#parts
    const now = store.now()
    const stepMs = this.#steps.read(now)
    this.lastLook = now
    if (stepMs !== 0) this.#clockWasSet(stepMs, now)
    this.attempts.process(now)
    this.changes.process(now)
    this.#lookAtDue(now)
    const frontier = this.window.frontier(now)
    if (!this.isHeld) this.starter.start(now, frontier)
    this.commits.flush()
    this.#notes.flush()
    this.#placing.makeRoom(this.#options.capacity, now)
    this.#parking.look(frontier !== undefined)
    this.#placing.flush()
    const isHeldBack = frontier !== undefined && this.core.isHeldBack(frontier)
    if (isHeldBack || this.window.nextLoad(this.core.startable) <= now) {
      if (this.window.canLoad(now)) void this.load(now, isHeldBack ? LEAST_LOAD : 0)
    }
    this.#setAlarm(now)
    this.#afterLook()
  }

  /** Fills the window. */
  async load(now: Instant, least = 0): Promise<void> {
    try {
      const tasks = await this.window.load(now, this.core.startable, least)
      const then = this.#parts.store.now()
      for (const task of tasks) {
        if (!isLive(task.state) || task.state === 'running') continue
        const live = this.take(task)
        if (!live.busy) this.settling.goOn(live, then)
      }
    } catch (error) {
      this.window.failed(now)
      this.trouble.failed(error)
    }
    this.wake()
  }

  #lookAtDue(now: Instant): void {
    const { wakePolicy } = this.#options.preset
    this.#nextLook = Math.min(this.#nextLook, wakePolicy(now, this.core.earliest))
    if (now < this.#nextLook) return
    for (const { live, transition } of this.core.look(now)) this.commits.add({ live, transition })
    this.#nextLook = wakePolicy(now, this.core.earliest)
  }

  #setAlarm(now: Instant): void {
    const at = Math.min(this.#nextLook, this.window.nextLoad(this.core.startable))
    if (this.#alarm?.at === at) return
    this.#alarm?.timer.cancel()
    this.#alarm = undefined
    if (at === Infinity) return
    // the store's clock decides what is due; the alarm follows the machine's
    const { clock } = this.#parts
    const timer = clock.setAlarm(Math.max(at, now) + clock.now() - now, () => {
      this.#alarm = undefined
      this.look()
    })
    this.#alarm = { timer, at }
  }

  #clockWasSet(stepMs: number, now: Instant): void {
    this.#options.log.warn('the wall clock was set', { byMs: Math.round(stepMs) })
    this.#nextLook = -Infinity
    if (stepMs > 0) return
    this.core.setBack(now)
    // what is parked may not be due any more: the window finds it when it is
    this.#placing.giveBack(this.core.parked.clear())
    this.window.reset()
    if (stepMs > -LEAST_STEP_MS) return
    const waiting = [...this.core]
    for (const live of waiting) {
      const transition = pulledIn(live.task, now)
      if (!transition) continue
      this.core.remove(live)
      this.commits.add({ live, transition })
    }
    void pullInOutside(this.#parts.store, this.changes, this.#options.log)
  }

  /** Tries whether the store commits again. */
  async #probe(): Promise<void> {
    if (this.commits.retry()) return
    this.#notes.flush()
    try {
      await this.#parts.store.reserveStartIds(1)
      this.trouble.worked()
      this.wake()
    } catch (error) {
      this.trouble.failed(error)
    }
  }
}
