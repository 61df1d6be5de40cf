import type { Retention } from '../maintenance/retention.js'
import type { ResultLog } from '../results/result-log.js'
import type { GrpcServer } from '../rpc/grpc-server.js'
import type { ResultStreaming } from '../rpc/result-streaming.js'
import type { Scheduler } from '../scheduler/scheduler.js'
import type { TaskStore } from '../store/task-store.js'
import type { Log } from '../task/log.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import type { Watchdog } from '../watchdog/watchdog.js'

const TELEMETRY_LIMIT_MS = 5_000

export interface RunningParts {
  readonly host: string
  readonly port: number
  readonly store: TaskStore
  readonly scheduler: Scheduler
  readonly results: ResultLog
  readonly streaming: ResultStreaming
  readonly grpc: GrpcServer
  readonly telemetry: Telemetry
  readonly watchdog: Watchdog
  readonly retention: Retention
  /** Aborted when the server stops: whoever waits for a result is answered. */
  readonly ending: AbortController
  readonly log: Log
}

/** A server that answers calls and starts tasks. */
export class RunningServer {
  readonly host: string
  readonly port: number
  readonly #parts: RunningParts
  #stopped: Promise<boolean> | undefined

  constructor(parts: RunningParts) {
    this.host = parts.host
    this.port = parts.port
    this.#parts = parts
  }

  /** Loads what a start does not wait for: the first to ask would have everything else wait for it, a fifth of a second. */
  warm(): Promise<void> {
    return this.#parts.grpc.warm()
  }

  /**
   * Stops in two steps: drains (no new tasks, no new starts, running attempts get until the limit), then closes (streams end with their cursor, the last commit,
   * telemetry is sent).
   *
   * @returns whether all of it went well; false: attempts were cut off, or something could not be stored or sent. Idempotent.
   */
  stop(drainLimitMs: number): Promise<boolean> {
    this.#stopped ??= this.#stop(drainLimitMs)
    return this.#stopped
  }

  async #stop(drainLimitMs: number): Promise<boolean> {
    const { grpc, scheduler, streaming, ending, results, store, telemetry, watchdog, retention, log } =
      this.#parts
    watchdog.stop()
    grpc.health.serving = false
    const drained = await scheduler.drain(drainLimitMs)
    if (!drained) log.warn('running attempts were cut off: they run again after a restart', { drainLimitMs })
    ending.abort()
    const streamsEnded = streaming.end()
    const steps = [
      ['streams and calls', () => Promise.all([streamsEnded, grpc.close()])],
      ['the scheduler', () => scheduler.close()],
      ['the result log', () => Promise.resolve(results.close())],
      ['retention', () => retention.stop()],
      ['the store', () => store.close()],
    ] as const
    let clean = drained
    for (const [what, close] of steps) {
      try {
        await close()
      } catch (error) {
        clean = false
        log.error(`${what} could not be closed`, { error })
      }
    }
    return (await telemetry.shutdown(TELEMETRY_LIMIT_MS)) && clean
  }
}
