import { availableParallelism } from 'node:os'
import { type Clock, systemClock } from '../clock.js'
import type { HandlerCatalogue } from '../handlers/catalogue.js'
import { type Log, SILENT } from '../task/log.js'
import type { AttemptRequest, Executor, ExecutorEvents, Lane } from './executor.js'
import { SharedWatch } from './shared-watch.js'
import { ThreadLane } from './thread-lane.js'
import type { ThreadOptions } from './thread-session.js'
import { THREAD_TIMES, type ThreadTimes } from './thread-times.js'

/** What a {@link ThreadExecutor} is told; see its defaults. */
export interface ThreadExecutorOptions {
  /** The handlers, as the main thread knows them. */
  readonly catalogue: HandlerCatalogue
  /** File URLs of the modules that define them: each thread loads them itself. */
  readonly modules: readonly string[]
  /** Threads of lane `thread`: attempts that compute at once. */
  readonly threadSlots: number
  /** Attempts that wait at once in lane `shared`. */
  readonly sharedSlots: number
  /** JavaScript heap of a thread, in MiB, unless its handler says otherwise. Buffers are not counted. */
  readonly memoryLimitMb: number
  /** All of the environment that handlers see. Nothing by default: what the server knows (keys, tokens) is not theirs. */
  readonly env: Readonly<Record<string, string>>
  /** Of an output, as JSON text or bytes. */
  readonly maxOutputBytes: number
  /** File URL of a module with {@link Instrument}, loaded by each thread; '' = none. */
  readonly instrumentation: string
  readonly times: Partial<ThreadTimes>
  readonly clock: Clock
  readonly log: Log
}

type Given = Pick<ThreadExecutorOptions, 'catalogue' | 'modules'> & Partial<ThreadExecutorOptions>

const DEFAULTS = {
  threadSlots: availableParallelism(),
  sharedSlots: 256,
  memoryLimitMb: 512,
  env: {},
  maxOutputBytes: 1024 * 1024,
  instrumentation: '',
  times: {},
  clock: systemClock,
  log: SILENT,
}

function threadExecutorOptions(given: Given): ThreadExecutorOptions {
  const options = { ...DEFAULTS, ...given }
  for (const name of ['threadSlots', 'sharedSlots', 'memoryLimitMb', 'maxOutputBytes'] as const)
    if (!(Number.isSafeInteger(options[name]) && options[name] >= 1))
      throw new RangeError(`${name} must be a whole number of 1 or more, got ${options[name]}`)
  return Object.freeze(options)
}

/**
 * Runs attempts in worker threads. Handlers cannot harm the server or each other by errors, endless loops, exits or hunger for memory; threads are kept and
 * reused, so what a handler leaves in global variables is there for the next one.
 *
 * @example
 * const executor = new ThreadExecutor({ catalogue, modules: [new URL('./handlers.js', import.meta.url).href] })
 * executor.listen(events)
 * await executor.ready()
 * executor.start('thread', [attempt])
 */
export class ThreadExecutor implements Executor {
  readonly slots: Readonly<Record<Lane, number>>
  readonly #options: ThreadExecutorOptions
  readonly #lanes: Readonly<Record<Lane, ThreadLane>>
  readonly #watch: SharedWatch
  #events: ExecutorEvents | undefined
  #closing: Promise<void> | undefined

  /** @throws RangeError for an option that cannot be. */
  constructor(given: Given) {
    this.#options = threadExecutorOptions(given)
    const { times, clock, log, threadSlots, sharedSlots } = this.#options
    const allTimes = { ...THREAD_TIMES, ...times }
    this.slots = Object.freeze({ thread: threadSlots, shared: sharedSlots })
    this.#lanes = { thread: this.#lane('thread', allTimes), shared: this.#lane('shared', allTimes) }
    this.#watch = new SharedWatch(this.#lanes.shared.seats, allTimes, clock, log)
  }

  /** Starts the threads of the lanes that have handlers, which takes a while, before anybody listens. */
  warm(): void {
    for (const lane of new Set(this.#options.catalogue.list().map((handler) => handler.lane)))
      this.#lanes[lane].warm()
  }

  /** Also starts the threads, unless they are warm. */
  listen(events: ExecutorEvents): void {
    if (this.#events !== undefined) throw new Error('the executor has a listener already')
    this.#events = events
    this.warm()
  }

  /**
   * Resolves when every thread has loaded the handlers; work given before waits for that.
   *
   * @throws Error that says why a thread could not, such as a module that needs a variable its environment does not have.
   */
  async ready(): Promise<void> {
    const { thread, shared } = this.#lanes
    await Promise.all([thread.ready(), shared.ready()])
  }

  start(lane: Lane, burst: readonly AttemptRequest[]): void {
    const events = this.#listener()
    if (this.#closing !== undefined) {
      queueMicrotask(() => events.returned(burst.map(({ startId }) => startId)))
      return
    }
    this.#lanes[lane].start(burst)
    if (lane === 'shared') this.#watch.wake()
  }

  stop(startId: number, graceMs: number): boolean {
    for (const lane of Object.values(this.#lanes))
      for (const seat of lane.seats) if (seat.stop(startId, graceMs, 'cancelled')) return true
    return false
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#watch.close()
    await Promise.all(Object.values(this.#lanes).map((lane) => lane.close()))
  }

  #listener(): ExecutorEvents {
    if (this.#events === undefined) throw new Error('listen() comes before start()')
    return this.#events
  }

  #lane(lane: Lane, times: ThreadTimes): ThreadLane {
    const { catalogue, memoryLimitMb, clock, log } = this.#options
    return new ThreadLane({
      lane,
      slots: this.slots[lane],
      options: this.#threadOptions(lane),
      memoryLimitFor: (handler) => catalogue.get(handler)?.memoryLimitMb ?? memoryLimitMb,
      times,
      clock,
      log,
      // who listens is not known yet
      events: {
        began: (starts) => this.#listener().began(starts),
        ended: (ends) => this.#listener().ended(ends),
        returned: (startIds) => this.#listener().returned(startIds),
        released: (startIds) => this.#listener().released(startIds),
        spans: (records) => this.#events?.spans?.(records),
      },
    })
  }

  #threadOptions(lane: Lane): ThreadOptions {
    const { modules, maxOutputBytes, instrumentation, memoryLimitMb, env } = this.#options
    return {
      settings: { modules, maxOutputBytes, instrumentation, shared: lane === 'shared' },
      memoryLimitMb,
      env,
    }
  }
}
