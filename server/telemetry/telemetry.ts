import type { Clock } from '../clock.js'
import type { Executor } from '../executor/executor.js'
import type { TaskStore } from '../store/task-store.js'
import type { Log } from '../task/log.js'
import type { MetricSources } from './metric-sources.js'
import { isOn, type ListenAddress, type TelemetrySettings } from './telemetry-settings.js'

/** The server seen from outside: wraps its ports, reads its gauges, and says at the end whether all of it got out. */
export interface Telemetry {
  /** Whether spans are made: the RPC edge and the threads trace only then. */
  readonly traces: boolean
  /** The module that traces handlers inside their threads, for the executor; '' = none. */
  readonly threadInstrumentation: string
  /** Where `/metrics` is served. */
  readonly prometheus?: ListenAddress
  /** The store to use instead: counted, timed and traced; the same when telemetry is off. */
  store(store: TaskStore): TaskStore
  /** The executor to use instead; the same when telemetry is off. */
  executor(executor: Executor): Executor
  /** What gauges read. Called once, when the parts are there. */
  observe(sources: MetricSources): void
  /** Sends what is left and stops. Never takes longer than `limitMs`. False: something may be lost, and the log says so. */
  shutdown(limitMs: number): Promise<boolean>
}

/** What telemetry needs of the server. */
export interface TelemetryContext {
  readonly clock: Clock
  readonly log: Log
  /** Of the server: goes into the resource. */
  readonly version: string
  /** Whether a handler of this name is loaded: only then is its name an attribute of metrics. */
  isLoaded(handler: string): boolean
}

/** Telemetry that was not asked for: nothing is loaded, nothing is wrapped. */
export const TELEMETRY_OFF: Telemetry = Object.freeze({
  traces: false,
  threadInstrumentation: '',
  store: (store: TaskStore) => store,
  executor: (executor: Executor) => executor,
  observe() {},
  shutdown: () => Promise.resolve(true),
})

/**
 * Starts what the settings ask for. The SDK is loaded only if they ask for anything.
 *
 * @throws {@link Error} when `/metrics` cannot be served at its address.
 * @example
 * const telemetry = await startTelemetry(telemetrySettings(env), { clock, log, version, isLoaded })
 * const store = telemetry.store(await openStore())
 */
export async function startTelemetry(
  settings: TelemetrySettings,
  context: TelemetryContext,
): Promise<Telemetry> {
  if (!isOn(settings)) return TELEMETRY_OFF
  const { startSdk } = await import('./sdk-telemetry.js')
  return startSdk(settings, context)
}
