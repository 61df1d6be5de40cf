import type { Clock } from '../clock.js'
import type { BlockedReason } from '../scheduler/blocked-reason.js'
import type { TaskPage, TaskStore } from '../store/task-store.js'
import type { Task } from '../task/task.js'
import type { Findings } from './findings.js'

/** A run that is due for longer than this and has not started is overdue. */
const OVERDUE_MS = 30_000
/** Tasks of one step: the walk is never in anybody's way. */
const STEP = 200

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

/** Tasks that are overdue for the same reason. */
interface Overdue {
  count: number
  oldest: Task
}

const WHY: Readonly<Record<BlockedReason | 'noSlot', string>> = {
  handlerMissing: 'the handler is not loaded',
  concurrencyKey: 'another task holds the concurrency key',
  handlerLimit: 'the handler runs as often at once as it may',
  paused: 'it is paused',
  noSlot: 'no slot was free',
}

/**
 * Walks over the tasks that are overdue, as the store has them, a few at a time: which wait for a handler that is not loaded, which recurrences should have run
 * and have not, and whether any is in nobody's hands.
 */
export class OverdueWatch {
  readonly #parts: OverdueWatchParts
  #after: TaskPage['next']
  #isWalking = false
  /** By handler that is not loaded. */
  #handlers = new Map<string, Overdue>()
  /** Runs of recurrences, by why they have not started. */
  #runs = new Map<string, Overdue>()

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
    const reason = this.#parts.scheduler.blockedReason(task)
    if (reason === 'handlerMissing') count(this.#handlers, task.spec.handler, task)
    else if (task.spec.recurrence) count(this.#runs, WHY[reason ?? 'noSlot'], task)
  }

  #roundIsOver(): void {
    const { findings } = this.#parts
    const handlers = [...this.#handlers].map(([name, { count: tasks, oldest }]) => {
      const wait = tasks === 1 ? '1 due task waits' : `${tasks} due tasks wait`
      const message = `${wait} for the handler '${name}', which is not loaded: load it, or cancel them`
      return [name, { message, since: oldest.notBefore }] as const
    })
    const runs = [...this.#runs].map(([why, { count: tasks, oldest }]) => {
      const have = tasks === 1 ? '1 run of a recurrence has' : `${tasks} runs of recurrences have`
      const due = new Date(oldest.dueTime).toISOString()
      const message = `${have} not started, though overdue: ${why}. The oldest is run ${oldest.run} of '${oldest.spec.id}', due at ${due}`
      return [why, { message, since: oldest.notBefore }] as const
    })
    findings.areExactly('HANDLER_MISSING', new Map(handlers))
    findings.areExactly('RUN_MISSING', new Map(runs))
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

function count(overdue: Map<string, Overdue>, name: string, task: Task): void {
  const known = overdue.get(name)
  if (!known) {
    overdue.set(name, { count: 1, oldest: task })
    return
  }
  known.count++
  if (task.notBefore < known.oldest.notBefore) known.oldest = task
}
