import type { AttemptRequest, Executor } from '../executor/executor.js'
import type { TaskStore } from '../store/task-store.js'
import { began } from '../task/attempt-start.js'
import type { Instant } from '../task/instant.js'
import { isQuarantined } from '../task/interruption.js'
import type { Task } from '../task/task.js'
import type { Commits } from './commits.js'
import type { DispatchCore } from './dispatch-core.js'
import type { Burst, LiveTask } from './live-task.js'
import type { LiveTasks } from './live-tasks.js'
import type { Frontier } from './start-line.js'
import type { StartIds } from './start-ids.js'
import { attemptStart } from './start-notes.js'
import type { StoreTrouble } from './store-trouble.js'

export interface StarterParts {
  readonly core: DispatchCore
  readonly tasks: LiveTasks
  readonly commits: Commits
  readonly trouble: StoreTrouble
  readonly ids: StartIds
  readonly store: TaskStore
  readonly executor: Executor
  /** Until when every start is on disk before it happens: just after a crash, so that the next one counts whom it took. */
  readonly noteAll: () => boolean
  /** The task is free: what waits for it can go on. */
  readonly goOn: (live: LiveTask) => void
}

/** Endings on their way to the store at most: beyond it, starts wait for the store. */
const MAX_OPEN_COMMITS = 20_000

/** Hands due tasks to the executor: at once, or for those whose start has to be known after a crash, once it is on disk. */
export class Starter {
  readonly #parts: StarterParts
  #closed = false

  constructor(parts: StarterParts) {
    this.#parts = parts
  }

  start(now: Instant, frontier: Frontier | undefined): void {
    const { core, commits, trouble, ids, executor } = this.#parts
    if (this.#closed || trouble.isThere || commits.open > MAX_OPEN_COMMITS) return
    const noted: Burst[] = []
    for (const burst of core.start(ids.left, frontier)) {
      for (const live of burst.members) this.#handOut(live, now)
      if (this.#parts.noteAll() || burst.members.some(needsNote)) noted.push(burst)
      else executor.start(burst.lane, burst.members.map(attemptRequest))
    }
    ids.reserveAhead()
    if (noted.length > 0) void this.#startNoted(noted, now)
  }

  /** Nothing starts any more. */
  close(): void {
    this.#closed = true
  }

  #handOut(live: LiveTask, now: Instant): void {
    this.#parts.tasks.handOut(live, this.#parts.ids.take())
    live.decidedUs = now * 1_000
  }

  async #startNoted(bursts: readonly Burst[], now: Instant): Promise<void> {
    const all = bursts.flatMap(({ members }) => members)
    const begun = all.map((live) => began(live.task, live.startId, now * 1_000))
    for (const live of all) live.busy = true
    const areNoted = await this.#note(begun)
    if (areNoted) all.forEach((live, i) => (live.task = begun[i] ?? live.task))
    for (const { lane, members } of bursts) {
      if (areNoted && !this.#closed && this.#areDue(members)) {
        this.#parts.executor.start(lane, members.map(attemptRequest))
      } else {
        this.#takeBack(members)
      }
    }
    for (const live of all) {
      live.busy = false
      this.#parts.goOn(live)
    }
  }

  /** Still: the wall clock may have been set back while the start was noted. */
  #areDue(members: readonly LiveTask[]): boolean {
    const now = this.#parts.store.now()
    return members.every(({ task }) => task.notBefore <= now)
  }

  async #note(begun: readonly Task[]): Promise<boolean> {
    try {
      await this.#parts.store.start(begun.map((task) => attemptStart(task)))
      return true
    } catch (error) {
      this.#parts.trouble.failed(error)
      return false
    }
  }

  #takeBack(members: readonly LiveTask[]): void {
    for (const live of members) {
      this.#parts.core.slotFreed(live)
      live.returned = true
    }
  }
}

const needsNote = ({ task }: LiveTask): boolean => task.spec.atMostOnce || isQuarantined(task)

function attemptRequest({ task, startId }: LiveTask): AttemptRequest {
  const { spec } = task
  return {
    startId,
    taskId: spec.id,
    handler: spec.handler,
    run: task.run,
    attempt: task.state === 'running' ? task.attempts : task.attempts + 1,
    payload: spec.payload,
    timeoutMs: spec.attemptTimeoutMs,
    dueTime: task.dueTime,
    notBefore: task.notBefore,
    createTime: task.createTime,
    labels: spec.labels,
    traceparent: spec.traceparent,
    tracestate: spec.tracestate,
    alone: isQuarantined(task),
  }
}
