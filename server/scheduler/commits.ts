import type { Clock } from '../clock.js'
import type { TaskStore, UpdateAnswer } from '../store/task-store.js'
import { SchedulerError, StoreUnavailableError } from '../task/errors.js'
import type { Log } from '../task/log.js'
import type { Transition } from '../task/result.js'
import type { Ask } from './ask.js'
import type { LiveTask } from './live-task.js'
import type { StoreTrouble } from './store-trouble.js'

/** A new state of a task on its way to the store. */
export interface Commit {
  readonly live: LiveTask
  readonly transition: Transition & { readonly reopen?: boolean }
  /** Who waits for it. Absent: it happened, so it is kept until the store takes it. */
  readonly ask?: Ask
}

/** Entries of one transaction at most: a larger one would hold up those who wait for a small one. */
const MAX_BATCH = 2_000
/** A state that cannot be stored although others can is tried again this often. */
const ODD_RETRY_MS = 5_000

/** Brings new states to the store, many in one call, one at a time for each task. What happened is kept and brought again until it is stored. */
export class Commits {
  readonly #store: TaskStore
  readonly #clock: Clock
  readonly #log: Log
  readonly #trouble: StoreTrouble
  readonly #settled: (commit: Commit, answer: UpdateAnswer | Error) => void
  #next: Commit[] = []
  #kept: Commit[] = []
  #underWay = 0

  constructor(
    store: TaskStore,
    clock: Clock,
    log: Log,
    trouble: StoreTrouble,
    settled: (commit: Commit, answer: UpdateAnswer | Error) => void,
  ) {
    this.#store = store
    this.#clock = clock
    this.#log = log
    this.#trouble = trouble
    this.#settled = settled
  }

  /** Tasks whose new state is not stored yet. */
  get open(): number {
    return this.#next.length + this.#underWay + this.#kept.length
  }

  /** The task is busy from now on, until `settled` is told. */
  add(commit: Commit): void {
    commit.live.busy = true
    this.#next.push(commit)
  }

  /** Sends what has come together. */
  flush(): void {
    while (this.#next.length > 0) {
      const batch = this.#next.length <= MAX_BATCH ? this.#next : this.#next.slice(0, MAX_BATCH)
      this.#next = this.#next.length <= MAX_BATCH ? [] : this.#next.slice(MAX_BATCH)
      void this.#send(batch)
    }
  }

  /** Tries again with what is kept. @returns whether there was anything. */
  retry(): boolean {
    if (this.#kept.length === 0) return false
    this.#next = [...this.#kept, ...this.#next]
    this.#kept = []
    this.flush()
    return true
  }

  async #send(batch: readonly Commit[]): Promise<void> {
    this.#underWay += batch.length
    let answers: readonly UpdateAnswer[]
    try {
      answers = await this.#store.update(batch.map(({ transition }) => transition))
    } catch (error) {
      this.#underWay -= batch.length
      this.#failed(batch, error)
      return
    }
    this.#underWay -= batch.length
    if (this.#trouble.worked()) this.retry()
    batch.forEach((commit, i) => this.#settled(commit, answers[i] ?? noAnswer()))
  }

  #failed(batch: readonly Commit[], error: unknown): void {
    if (!(error instanceof SchedulerError)) return this.#failedOddly(batch, error)
    this.#trouble.failed(error)
    for (const commit of batch) {
      if (commit.ask) this.#settled(commit, error)
      else this.#keep(commit)
    }
  }

  /** Not the store as a whole: one of the batch cannot be stored. Halves it until that one is alone and holds up no other. */
  #failedOddly(batch: readonly Commit[], error: unknown): void {
    if (batch.length > 1) {
      const middle = batch.length >> 1
      void this.#send(batch.slice(0, middle))
      void this.#send(batch.slice(middle))
      return
    }
    const [commit] = batch
    if (!commit) return
    this.#log.error('a new state of a task cannot be stored', { taskId: commit.live.task.spec.id, error })
    if (commit.ask) {
      this.#settled(commit, new StoreUnavailableError('the change was refused', { cause: error }))
      return
    }
    this.#refuseAsks(commit.live)
    this.#underWay++
    this.#clock.setTimer(ODD_RETRY_MS, () => {
      this.#underWay--
      void this.#send(batch)
    })
  }

  #keep(commit: Commit): void {
    this.#kept.push(commit)
    this.#refuseAsks(commit.live)
  }

  /** Whoever asked for a later change of the task is not kept waiting. */
  #refuseAsks(live: LiveTask): void {
    const { asks } = live
    live.asks = undefined
    for (const ask of asks ?? [])
      ask.answer(new StoreUnavailableError('what happened to the task before is not stored yet'))
  }
}

function noAnswer(): Error {
  return new Error('the store did not answer for every transition')
}
