import { createClient, type ResultFilter, type ResultOf, type SchedulerClient } from '../client/index.js'
import type { HandlerName, HandlerSet } from '../server/handlers/index.js'
import { systemClock } from '../server/clock.js'
import { type RunningServer, startServer } from '../server/compose.js'
import { readConfig } from '../server/config/read-config.js'
import { SILENT } from '../server/task/log.js'
import { handlerMap } from './handler-map.js'
import { InProcessExecutor } from './in-process-executor.js'
import { runHandlers } from './run-handlers.js'
import { VirtualClock } from './virtual-clock.js'

/** Options of {@link startTestServer}. */
export interface TestServerOptions<Handlers extends HandlerSet> {
  /** What tasks may name, as a handlers module exports it. */
  readonly handlers: Handlers
  /** What the server's clock reads at first. Default 2030-01-01T00:00:00Z. */
  readonly startTime?: Date
  /** Attempts of lane `thread` at once. Default 2. */
  readonly threads?: number
  /** Attempts of lane `shared` at once. Default 256. */
  readonly sharedSlots?: number
  /** Other settings of the server, by the name of their flag in camel case, such as `{ maxWaitingTasks: '100' }`. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Virtual time that a closing server may take: more than any of its limits. */
const CLOSE_STEP_MS = 60_000

/**
 * A whole server in this process, in memory, on a clock that stands still until {@link advance} is called. Its client is the real one, on a real connection.
 * Made by {@link startTestServer}.
 */
export class TestServer<Handlers extends HandlerSet> implements AsyncDisposable {
  /** A client of this server, typed by its handlers. Its deadlines are real time. */
  readonly client: SchedulerClient<Handlers>
  /** For clients of your own: host:port. */
  readonly address: string
  readonly #server: RunningServer
  readonly #clock: VirtualClock

  /** @internal Use {@link startTestServer}. */
  constructor(server: RunningServer, clock: VirtualClock) {
    this.#server = server
    this.#clock = clock
    this.address = `${server.host}:${server.port}`
    this.client = createClient<Handlers>({ address: this.address })
  }

  /** What the server's clock reads. */
  now(): Date {
    return new Date(this.#clock.now())
  }

  /**
   * Lets `ms` of the server's time pass. It stops at each instant at which something is due and lets all that follows happen before time goes on, so that it
   * takes as long as the work of it, not as the time of it. When it resolves, the results are stored.
   *
   * `context.sleep` in handlers waits on this time. A handler that waits for something else, such as a real timer or a socket, is not waited for.
   *
   * @throws RangeError when `ms` is negative or no number.
   * @example await server.advance(24 * 3_600_000)
   */
  advance(ms: number): Promise<void> {
    return this.#clock.advance(ms)
  }

  /** Lets time pass until the server's clock reads `instant`; nothing when it already does. */
  advanceTo(instant: Date): Promise<void> {
    const ms = instant.getTime()
    if (Number.isNaN(ms)) throw new RangeError('instant is not a valid date')
    return this.#clock.advanceTo(ms)
  }

  /** Sets the server's clock by `ms`, forward or, when negative, back, as an operator or NTP would. No time passes. */
  stepClock(ms: number): Promise<void> {
    return this.#clock.step(ms)
  }

  /** All results so far that match, in the order in which they were stored. */
  async results<Name extends HandlerName<Handlers> = HandlerName<Handlers>>(
    filter: ResultFilter<Name> = {},
  ): Promise<readonly ResultOf<Handlers, Name>[]> {
    const found: ResultOf<Handlers, Name>[] = []
    const stream = this.client.results<Name>({ filter, from: 'earliest', untilCaughtUp: true })
    for await (const result of stream) found.push(result)
    return found
  }

  /** Ends client and server. Attempts that still run are cut off. A second time is fine. */
  async close(): Promise<void> {
    await this.client.close()
    const stopped = this.#server.stop(0)
    // what is cut off may wait for time to pass
    await this.#clock.advance(CLOSE_STEP_MS)
    await stopped
  }

  /** So that `await using server = await startTestServer(…)` closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/**
 * Starts a server for a test: the real one, with its real gRPC edge on a free port of loopback, in memory, its handlers in this process, and its time in your
 * hands. A year of a daily rule passes in about a second.
 *
 * @throws ConfigError when a setting is wrong; {@link HandlerModuleError} when a handler is.
 * @example
 * const server = await startTestServer({ handlers, startTime: new Date('2027-01-01T00:00:00Z') })
 * await server.client.schedule('report', {}, { recurrence: { cron: '30 2 * * *', timeZone: 'Europe/Berlin' } })
 * await server.advance(365 * 24 * 3_600_000)
 * console.log((await server.results()).length) // 365
 * await server.close()
 */
export async function startTestServer<const Handlers extends HandlerSet>({
  handlers,
  startTime,
  threads = 2,
  sharedSlots = 256,
  settings = {},
}: TestServerOptions<Handlers>): Promise<TestServer<Handlers>> {
  const flags = {
    data: ':memory:',
    listen: '127.0.0.1:0',
    threads: String(threads),
    sharedSlots: String(sharedSlots),
    // it watches for what this machine does to a server, and would look twice a second through a whole year
    watchdogInterval: '0s',
    // a test looks at its results when it wants to, a virtual year later too
    keepResults: '3650d',
    keepFailed: '3650d',
    ...settings,
  }
  const loaded = handlerMap(handlers)
  const clock = new VirtualClock(startTime && { startTime: startTime.getTime() })
  const server = await startServer(readConfig({ flags, env: {} }), {
    clock,
    // callers live in real time: a year of heartbeats is nothing that they wait for
    callerClock: systemClock,
    log: SILENT,
    storeInline: true,
    handlers: loaded,
    executor: () =>
      new InProcessExecutor({
        clock,
        run: runHandlers(loaded),
        slots: { thread: threads, shared: sharedSlots },
      }),
  })
  return new TestServer(server, clock)
}
