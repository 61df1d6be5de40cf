import type { Clock } from '../clock.js'
import type { BlockedReason } from '../scheduler/blocked-reason.js'
import type { TaskPage, TaskStore } from '../store/task-store.js'
import type { Instant } from '../task/instant.js'
import type { Task } from '../task/task.js'
import type { Findings } from './findings.js'

/** A run that is due for longer than this and has not started is overdue. */
const OVERDUE_MS = 30_000
/** Tasks of one step: the walk is never in anybody's way. */
const STEP = 200
/** Runs that are told of by name. */
const MAX_NAMED = 20

/** What it asks of the scheduler. */
export interface Knowing {
  blockedReason(task: Task): BlockedReason | undefined
  /** Whether it has the task in its hands. */
  knows(id: string): boolean
  /** Whether it would start a due task now. */
  hasFreeSlots(): boolean
  lookAnew(): void
}

export interface OverdueWatchParts {
  readonly clock: Clock
  readonly findings: Findings
  readonly store: Pick<TaskStore, 'list' | 'get' | 'giveBack' | 'now'>
  readonly scheduler: Knowing
}

interface Found {
  readonly message: string
  readonly since: Instant
}

interface Missing {
  count: number
  since: Instant
}

const WHY: Readonly<Record<BlockedReason, string>> = {
  handlerMissing: 'its handler is not loaded',
  concurrencyKey: 'another task holds its concurrency key',
  handlerLimit: 'its handler runs as often as it may',
  paused: 'it is paused',
}

/**
 * Walks over the tasks that are overdue, as the store has them, a few at a time: which wait for a handler that is not loaded, which recurrences should have run
 * and have not, and whether any is in nobody's hands.
 */
export class OverdueWatch {
  readonly #parts: OverdueWatchParts
  #after: TaskPage['next']
  #isWalking = false
  #handlers = new Map<string, Missing>()
  #runs = new Map<string, Found>()

  constructor(parts: OverdueWatchParts) {
    this.#parts = parts
  }

  /** The walk has begun and is not at its end: the next step may follow soon. */
  get isUnderWay(): boolean {
    return this.#after !== undefined
  }

  /** One step of the walk. */
  async look(): Promise<void> {
    if (this.#isWalking) return
    this.#isWalking = true
    try {
      await this.#step()
    } catch {
      // a store that cannot be read is found by whoever watches the store
    } finally {
      this.#isWalking = false
    }
  }

  async #step(): Promise<void> {
    const { store } = this.#parts
    const dueBefore = store.now() - OVERDUE_MS
    const { tasks, next } = await store.list({
      states: ['scheduled'],
      handlers: [],
      labels: {},
      dueBefore,
      limit: STEP,
      ...(this.#after && { after: this.#after }),
    })
    const overdue = tasks.filter(({ paused, notBefore }) => !paused && notBefore < dueBefore)
    for (const task of overdue) this.#note(task)
    await this.#findLost(overdue)
    this.#after = next
    if (!next) this.#roundIsOver()
  }

  #note(task: Task): void {
    const { spec, notBefore } = task
    const reason = this.#parts.scheduler.blockedReason(task)
    if (reason === 'handlerMissing') {
      const known = this.#handlers.get(spec.handler)
      if (known) {
        known.count++
        known.since = Math.min(known.since, notBefore)
      } else this.#handlers.set(spec.handler, { count: 1, since: notBefore })
    } else if (spec.recurrence && this.#runs.size < MAX_NAMED) {
      const why = reason === undefined ? 'it waits for a slot' : WHY[reason]
      const due = new Date(task.dueTime).toISOString()
      const message = `run ${task.run} of the recurring task '${spec.id}' was due at ${due} and has not started: ${why}`
      this.#runs.set(spec.id, { message, since: notBefore })
    }
  }

  #roundIsOver(): void {
    const { findings } = this.#parts
    const handlers = [...this.#handlers].map(([name, { count, since }]) => {
      const message = `${count} due ${count === 1 ? 'task waits' : 'tasks wait'} for the handler '${name}', which is not loaded: load it, or cancel them`
      return [name, { message, since }] as const
    })
    findings.areExactly('HANDLER_MISSING', new Map(handlers))
    findings.areExactly('RUN_MISSING', this.#runs)
    this.#handlers = new Map()
    this.#runs = new Map()
  }

  /** A task that is due, that nothing keeps back, and that the scheduler does not have although it could start: brought back to it. */
  async #findLost(overdue: readonly Task[]): Promise<void> {
    const { store, scheduler, findings } = this.#parts
    const seemLost = (task: Task): boolean =>
      !scheduler.knows(task.spec.id) && scheduler.blockedReason(task) === undefined
    if (!scheduler.hasFreeSlots()) return
    const suspects = overdue.filter(seemLost)
    if (suspects.length === 0) return
    // what was read beside the writer may be old: asked again, in turn with the writes
    const now = await store.get(suspects.map(({ spec }) => spec.id))
    const lost = now.filter((task) => task?.state === 'scheduled' && !task.paused && seemLost(task))
    const due = store.now() - OVERDUE_MS
    const arrivals = lost.flatMap((task) => (task && task.notBefore < due ? [task.arrival] : []))
    if (arrivals.length === 0 || !scheduler.hasFreeSlots()) return
    await store.giveBack(arrivals)
    scheduler.lookAnew()
    const tasks = arrivals.length === 1 ? '1 due task was' : `${arrivals.length} due tasks were`
    findings.was('DISPATCH_STALL', `${tasks} in nobody's hands; the scheduler was told to take them`)
  }
}
