import type { TaskStore } from '../store/task-store.js'
import type { Instant } from '../task/instant.js'
import { PRIORITY_STEP_MS, startKey } from '../task/start-order.js'
import type { Task } from '../task/task.js'
import type { Frontier } from './start-line.js'

export interface WindowOptions {
  /** Tasks due within this are taken into memory ahead of time. */
  readonly windowMs: number
  /** Waiting tasks in memory. */
  readonly capacity: number
  /** While more are due than fit: how long what is in memory may be believed to be the first of all. */
  readonly staleMs: number
  readonly priorityStepMs: number
}

export const DEFAULT_WINDOW: WindowOptions = {
  windowMs: 60_000,
  capacity: 100_000,
  staleMs: 100,
  priorityStepMs: PRIORITY_STEP_MS,
}

/** Tasks of one answer of the store at most, so that no answer takes long. */
const MAX_PAGE = 5_000
const RETRY_MS = 1_000
/** Nothing starts before the store has been asked. */
const NOTHING: Frontier = { key: -Infinity, arrival: -1 }

/**
 * Which tasks are in memory: those that are due soon and, when more are due than fit, those with the smallest start keys. It knows what it does not know: until
 * when no task outside can be due, and beyond which start key a due task outside may come first.
 */
export class Window {
  readonly #store: TaskStore
  readonly #options: WindowOptions
  /** No task outside is due before this. */
  #safeUntil: Instant = -Infinity
  /** When some outside may be due: those that were due at `loadedAt` come after this. */
  #frontier: Frontier | undefined
  #loadedAt: Instant = -Infinity
  #nextLoad: Instant = -Infinity
  /** After a failure: not before this. */
  #retryAt: Instant = -Infinity
  #pageSize = 1
  #loading = false
  /** The earliest that was announced while the store was asked, so that its answer may not know of it. */
  #announced: Instant = Infinity
  /** Tasks that were changed outside memory meanwhile: the answer may hold them as they were before. */
  readonly #changed = new Map<string, Task>()

  constructor(store: TaskStore, options: WindowOptions) {
    this.#store = store
    this.#options = options
  }

  get windowMs(): number {
    return this.#options.windowMs
  }

  get isLoading(): boolean {
    return this.#loading
  }

  /** Whether a new task should be taken into memory at once. @param waiting - Tasks that wait in memory. */
  wantsNear(notBefore: Instant, priority: number, now: Instant, waiting: number): boolean {
    if (notBefore > now + this.#options.windowMs) return false
    const frontier = this.frontier(now)
    if (frontier && notBefore <= now) return this.#key(notBefore, priority) < frontier.key
    return waiting < this.#options.capacity
  }

  /** A task outside will be due then. */
  announce(notBefore: Instant): void {
    if (this.#loading) this.#announced = Math.min(this.#announced, notBefore)
    // while more are due than fit, the store is asked often enough as it is
    if (this.#isOverfull) return
    this.#safeUntil = Math.min(this.#safeUntil, notBefore)
    this.#nextLoad = Math.min(this.#nextLoad, notBefore - this.#options.windowMs / 2)
  }

  /** A task outside was changed. */
  changedOutside(task: Task): void {
    if (this.#loading) this.#changed.set(task.spec.id, task)
  }

  /** Beyond which start key a task in memory may not start; undefined: every one may. */
  frontier(now: Instant): Frontier | undefined {
    if (now < this.#safeUntil) return undefined
    return this.#frontier && now - this.#loadedAt <= this.#options.staleMs ? this.#frontier : NOTHING
  }

  /** When the store should be asked again; Infinity: not as far as is known. */
  nextLoad(waiting: number): Instant {
    if (this.#loading) return Infinity
    return Math.max(this.#retryAt, this.#wantedLoad(waiting))
  }

  #wantedLoad(waiting: number): Instant {
    const { capacity } = this.#options
    if (this.#isOverfull) return waiting < capacity - capacity / 4 ? -Infinity : this.#nextLoad
    // without room it is soon enough when one outside is due
    return waiting < capacity ? this.#nextLoad : Math.max(this.#nextLoad, this.#safeUntil)
  }

  canLoad(now: Instant): boolean {
    return !this.#loading && now >= this.#retryAt
  }

  /** Takes tasks from outside, at least `least` if there are. @returns them as they are now; what has changed meanwhile is newer than the store's answer. */
  async load(now: Instant, waiting: number, least: number): Promise<readonly Task[]> {
    this.#loading = true
    this.#announced = Infinity
    const through = now + this.#options.windowMs
    const room = this.#options.capacity - waiting
    const limit = Math.min(MAX_PAGE, Math.max(room, this.#pageSize, least))
    try {
      const [tasks, next] = await Promise.all([
        this.#store.takeWindow({ now, through, limit }),
        this.#store.nextWaiting(),
      ])
      this.#learn(tasks, next, now)
      return tasks.map((task) => this.#changed.get(task.spec.id) ?? task)
    } finally {
      this.#loading = false
      this.#changed.clear()
    }
  }

  /** The store cannot be asked at present. */
  failed(now: Instant): void {
    this.#retryAt = now + RETRY_MS
  }

  /** The wall clock was set back: what was known of the time is void. */
  reset(): void {
    this.#safeUntil = -Infinity
    this.#loadedAt = -Infinity
    this.#nextLoad = -Infinity
    this.#retryAt = -Infinity
    this.#frontier = undefined
  }

  /** Tasks were given back because they did not fit: the first of them comes where the known ends. */
  gaveBack(task: Task, now: Instant): void {
    if (task.notBefore > now) {
      this.announce(task.notBefore)
      return
    }
    const key = this.#key(task.notBefore, task.spec.priority)
    const { arrival } = task
    const known = this.#frontier
    if (!known || key < known.key || (key === known.key && arrival <= known.arrival)) {
      this.#frontier = { key, arrival: arrival - 1 }
    }
    if (now < this.#safeUntil) {
      this.#loadedAt = now
      this.#nextLoad = this.#refreshAt(now)
    }
    this.#safeUntil = Math.min(this.#safeUntil, now)
  }

  /** When to ask again while more are due than fit: before what is known is too old. */
  #refreshAt(now: Instant): Instant {
    return now + Math.max(1, this.#options.staleMs / 2)
  }

  /** More are due than fit into memory. */
  get #isOverfull(): boolean {
    return this.#frontier !== undefined && this.#safeUntil <= this.#loadedAt
  }

  /** @param next - The earliest due time outside, after `tasks` were taken. */
  #learn(tasks: readonly Task[], next: Instant | undefined, now: Instant): void {
    const { windowMs } = this.#options
    const last = tasks[tasks.length - 1]
    this.#loadedAt = now
    if (last && next !== undefined && next <= now) {
      const key = this.#key(last.notBefore, last.spec.priority)
      // what came was before what was known: there may be more of that kind
      this.#pageSize = this.#frontier && key < this.#frontier.key ? Math.min(this.#pageSize * 2, MAX_PAGE) : 1
      this.#frontier = { key, arrival: last.arrival }
      this.#safeUntil = now
      this.#nextLoad = this.#refreshAt(now)
      return
    }
    this.#frontier = undefined
    this.#pageSize = 1
    this.#safeUntil = Math.min(next ?? Infinity, this.#announced)
    this.#nextLoad = this.#safeUntil - windowMs / 2
  }

  #key(notBefore: Instant, priority: number): number {
    return startKey(notBefore, priority, this.#options.priorityStepMs)
  }
}
