import type { AttemptRequest, ExecutorEvents, Lane } from '../../server/executor/executor.js'
import type { LoadedHandler } from '../../server/scheduler/loaded-handlers.js'
import { Scheduler } from '../../server/scheduler/scheduler.js'
import type { SchedulerOptions } from '../../server/scheduler/scheduler-options.js'
import { admit } from '../../server/task/admit.js'
import { SchedulerError } from '../../server/task/errors.js'
import type { AttemptOutcome } from '../../server/task/outcome.js'
import type { TaskResult } from '../../server/task/result.js'
import { NO_PAYLOAD, type TaskSpec } from '../../server/task/task-spec.js'
import type { Task } from '../../server/task/task.js'
import { type InProcessContext, InProcessExecutor } from '../../testing/in-process-executor.js'
import { VirtualClock } from '../../testing/virtual-clock.js'
import { MemoryDisk } from './memory-disk.js'
import { MemoryStore } from './memory-store.js'
import { type GivenSpec, taskSpec } from './task-specs.js'

/** A handler of a test; what it throws is a failure that may be retried. */
export type Work = (request: AttemptRequest, context: InProcessContext) => unknown

export interface WorldOptions {
  /** By name. Default: `work`, which returns at once. */
  readonly handlers?: Readonly<Record<string, Work>>
  /** Lane and limit of handlers, where they matter. Default: lane `thread`, no limit. */
  readonly handlerInfo?: Readonly<Record<string, Partial<LoadedHandler>>>
  readonly slots?: Partial<Readonly<Record<Lane, number>>>
  readonly commitMs?: number
  readonly startTime?: number
  /** Instead of a new one that starts at `startTime`. */
  readonly clock?: VirtualClock
  readonly scheduler?: Partial<SchedulerOptions>
}

/** A start of a handler, as it happened. */
export interface Start {
  readonly id: string
  readonly at: number
  readonly attempt: number
  readonly run: number
}

/** One process: store, executor and scheduler on a disk and a clock that outlive it. */
interface Process {
  readonly store: MemoryStore
  readonly executor: InProcessExecutor
  readonly scheduler: Scheduler
}

/** A whole server without its edge, on virtual time, that a test can crash and start again. */
export class SchedulerWorld {
  readonly clock: VirtualClock
  readonly disk = new MemoryDisk()
  /** Every start of a handler, over all processes. */
  readonly starts: Start[] = []
  /** Ids of the attempts that run in this process, lingering ones included, by start id. */
  readonly running = new Map<number, string>()
  /** Whom this process's executor tells: for what a faulty one would tell. */
  events: ExecutorEvents | undefined
  readonly #options: WorldOptions
  #handlers: Readonly<Record<string, Work>>
  #process: Process | undefined

  constructor(options: WorldOptions = {}) {
    this.#options = options
    this.#handlers = options.handlers ?? { work: () => undefined }
    const { clock, startTime } = options
    this.clock = clock ?? new VirtualClock(startTime === undefined ? {} : { startTime })
  }

  static async start(options: WorldOptions = {}): Promise<SchedulerWorld> {
    const world = new SchedulerWorld(options)
    await world.start()
    return world
  }

  get scheduler(): Scheduler {
    return this.#current.scheduler
  }

  get store(): MemoryStore {
    return this.#current.store
  }

  get executor(): InProcessExecutor {
    return this.#current.executor
  }

  /** Starts a process on the disk. @param handlers - Other handlers from now on. */
  async start(handlers: Readonly<Record<string, Work>> = this.#handlers): Promise<void> {
    this.#handlers = handlers
    const { clock } = this
    const { commitMs = 0, slots, scheduler: options } = this.#options
    const stepMs = options?.priorityStepMs
    const store = new MemoryStore(clock, {
      disk: this.disk,
      commitMs,
      ...(stepMs !== undefined && { priorityStepMs: stepMs }),
    })
    const executor = new InProcessExecutor({
      clock,
      run: (request, context) => this.#run(request, context),
      slots: { thread: 2, shared: 256, ...slots },
    })
    this.#watch(executor)
    const scheduler = new Scheduler(
      { store, executor, clock, handlers: { get: (name) => this.#info(name) } },
      { random: () => 0.5, ...options },
    )
    this.#process = { store, executor, scheduler }
    const started = scheduler.start(await store.open())
    await clock.advance(commitMs)
    await clock.advance(commitMs)
    await started
    await clock.settle()
  }

  /** The process dies at this moment, and nothing of it lives on. */
  crash(): void {
    const { store, executor, scheduler } = this.#current
    store.kill()
    executor.listen({ began() {}, ended() {}, returned() {}, released() {} })
    void scheduler.close()
    void executor.close()
  }

  /** The process dies and another one starts at once. */
  async restart(handlers?: Readonly<Record<string, Work>>): Promise<void> {
    this.crash()
    await this.start(handlers)
  }

  /** Drains, closes, and leaves a clean store behind. */
  async stop(drainMs = 0): Promise<boolean> {
    const drained = this.scheduler.drain(drainMs)
    await this.clock.advance(drainMs)
    const inTime = await this.#overTime(drained)
    await this.#overTime(this.scheduler.close())
    await this.#overTime(this.store.close())
    return inTime
  }

  /** Schedules as the admission does. */
  async schedule(given: GivenSpec = {}): Promise<Task> {
    const [task] = await this.scheduleAll([given])
    if (!task) throw new Error('the store did not answer')
    return task
  }

  async scheduleAll(given: readonly GivenSpec[]): Promise<readonly Task[]> {
    const inserted = this.insert(given.map(taskSpec))
    await this.clock.settle()
    return this.#overTime(inserted)
  }

  /** Inserts and tells the scheduler, and does not let time go on. */
  async insert(specs: readonly TaskSpec[]): Promise<readonly Task[]> {
    const { store, scheduler } = this.#current
    const now = store.now()
    const requests = specs.map((spec) => {
      const task = admit(spec, now)
      return { task, near: scheduler.wantsNear(task.notBefore, spec.priority) }
    })
    const answers = await store.insert(requests)
    const created = answers.filter(({ kind }) => kind === 'created').map(({ task }) => task)
    const near = requests.filter((_, i) => answers[i]?.kind === 'created').map((request) => request.near)
    scheduler.accept(created, near)
    return answers.map(({ task }) => task)
  }

  async cancel(id: string, graceMs = 1_000): Promise<Task | SchedulerError> {
    return this.one(this.scheduler.cancel([id], graceMs))
  }

  /** The only answer of a change, once it is on disk. */
  async one(answers: Promise<readonly (Task | SchedulerError)[]>): Promise<Task | SchedulerError> {
    await this.clock.settle()
    const [answer] = await this.#overTime(answers)
    if (!answer) throw new Error('no answer')
    return answer
  }

  task(id: string): Task {
    const task = this.disk.task(id)
    if (!task) throw new Error(`no task ${id}`)
    return task
  }

  /** Results of a task's runs. */
  results(id: string): readonly TaskResult[] {
    return this.disk.results.filter(({ taskId }) => taskId === id)
  }

  /** The result of a task that has exactly one. */
  result(id: string): TaskResult {
    const [result, ...others] = this.results(id)
    if (!result || others.length > 0)
      throw new Error(`task ${id} has ${this.results(id).length} results, not one`)
    return result
  }

  startsOf(id: string): readonly Start[] {
    return this.starts.filter((start) => start.id === id)
  }

  get #current(): Process {
    if (!this.#process) throw new Error('no process runs')
    return this.#process
  }

  /** Lets the commits happen that a promise waits for. */
  async #overTime<T>(promise: Promise<T>): Promise<T> {
    await this.clock.settle()
    for (let i = 0; i < 40 && (await isPending(promise)); i++) {
      // first commits; if these do not do it, what waits for a store in trouble
      await this.clock.advance(i < 20 ? (this.#options.commitMs ?? 0) : 1_000)
    }
    if (await isPending(promise)) throw new Error('it is not answered, although time has passed')
    return promise
  }

  async #run(request: AttemptRequest, context: InProcessContext): Promise<AttemptOutcome> {
    const { taskId: id, attempt, run } = request
    const work = this.#handlers[request.handler]
    if (!work) throw new Error(`no handler ${request.handler}`)
    this.starts.push({ id, attempt, run, at: this.clock.now() })
    this.running.set(request.startId, id)
    const output = await work(request, context)
    if (isOutcome(output)) return output
    return {
      kind: 'succeeded',
      output: output === undefined ? NO_PAYLOAD : { kind: 'json', text: JSON.stringify(output) },
    }
  }

  /** Keeps `running`: an attempt is over when the executor says so, not when its handler stops: a thread would have been terminated. */
  #watch(executor: InProcessExecutor): void {
    this.running.clear()
    const listen = executor.listen.bind(executor)
    executor.listen = (events) => {
      this.events = events
      listen({
        began: (starts) => events.began(starts),
        returned: (startIds) => events.returned(startIds),
        ended: (ends) => {
          for (const { startId, lingering } of ends) if (!lingering) this.running.delete(startId)
          events.ended(ends)
        },
        released: (startIds) => {
          for (const startId of startIds) this.running.delete(startId)
          events.released(startIds)
        },
      })
    }
  }

  #info(name: string): LoadedHandler | undefined {
    if (!this.#handlers[name]) return undefined
    return { lane: 'thread', maxConcurrent: 0, ...this.#options.handlerInfo?.[name] }
  }
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  try {
    return (await Promise.race([promise, Promise.resolve(pending)])) === pending
  } catch {
    return false
  }
}

function isOutcome(value: unknown): value is AttemptOutcome {
  return typeof value === 'object' && value !== null && 'kind' in value
}

/** The error of an answer that must be one. */
export function errorOf(answer: Task | SchedulerError): SchedulerError {
  if (answer instanceof SchedulerError) return answer
  throw new Error(`expected an error, got task ${answer.spec.id} (${answer.state})`)
}

/** The task of an answer that must be one. */
export function taskOf(answer: Task | SchedulerError): Task {
  if (answer instanceof SchedulerError) throw answer
  return answer
}
