import { existsSync, readFileSync } from 'node:fs'
import { type Clock, systemClock } from './clock.js'
import type { RunningServer } from './compose/running-server.js'
import { version } from './compose/server-info.js'
import type { Config } from './config/read-config.js'
import type { Settings } from './config/settings.js'
import type { Executor } from './executor/executor.js'
import { ThreadExecutor, type ThreadExecutorOptions } from './executor/thread-executor.js'
import type { HandlerCatalogue } from './handlers/catalogue.js'
import { createCatalogue } from './handlers/handler-catalogue.js'
import { type LoadedHandlers, loadHandlers, moduleUrl } from './handlers/load-handlers.js'
import type { Tls } from './rpc/grpc-server.js'
import { encodeResult } from './rpc/result-codec.js'
import { PRESETS } from './scheduler/presets.js'
import { SqliteStore } from './store/sqlite/sqlite-store.js'
import type { TaskStore } from './store/task-store.js'
import type { Log } from './task/log.js'
import { createLogger } from './telemetry/logger.js'
import { startTelemetry, type Telemetry } from './telemetry/telemetry.js'
import { telemetrySettings } from './telemetry/telemetry-settings.js'

export type { RunningServer }

/** Parts that a test brings of its own. */
export interface Replacements {
  readonly clock?: Clock
  /** The time of callers: heartbeats of their streams, how long a wait is held open. Default: `clock`. */
  readonly callerClock?: Clock
  readonly log?: Log
  readonly handlers?: LoadedHandlers
  readonly executor?: (handlers: LoadedHandlers, catalogue: HandlerCatalogue) => Executor
  /** Runs SQLite in the same thread: a commit takes no real time. */
  readonly storeInline?: boolean
  /** Wraps the store, as telemetry does: for faults. */
  readonly store?: (store: TaskStore) => TaskStore
}

const MiB = 2 ** 20
const DEFAULT_SHARED_SLOTS = 256

/**
 * Puts a server together and starts it: with {@link assemble}, the only place that knows which parts there are.
 *
 * The threads come first, and most of the server's code is loaded while they start.
 *
 * @throws Error with one clear line when it cannot start: a store, a handlers module, an address, a certificate. Nothing is left running.
 * @example const server = await startServer(readConfig({ flags: { data: ':memory:' } }))
 */
export async function startServer(config: Config, replace: Replacements = {}): Promise<RunningServer> {
  const { settings } = config
  const clock = replace.clock ?? systemClock
  const log = replace.log ?? createLogger(settings.logLevel)
  const tls = readTls(settings)
  const modules = handlerModules(settings)
  // before the store: handlers that are wrong must not leave one behind that this version has made or changed
  const handlers = replace.handlers ?? (await loadHandlers(modules))
  const catalogue = createCatalogue(handlers)
  const undo: (() => Promise<unknown>)[] = []
  try {
    const telemetry = await startTelemetry(telemetrySettings(config.telemetryEnv, settings.metrics), {
      clock,
      log,
      version: version(),
      isLoaded: (name) => catalogue.get(name) !== undefined,
    })
    undo.push(() => telemetry.shutdown(0))
    const sqlite = sqliteStore(settings, { clock, log, isInline: replace.storeInline ?? false })
    const opening = sqlite.open()
    // what goes wrong is told where it is waited for
    opening.catch(() => {})
    undo.push(() => opening.then(() => sqlite.close()))
    const executor =
      replace.executor?.(handlers, catalogue) ??
      new ThreadExecutor(threadOptions({ config, modules, catalogue, telemetry, clock, log }))
    undo.push(() => executor.close())
    const threads = executor instanceof ThreadExecutor ? executor : undefined
    threads?.warm()
    const { assemble } = await import('./compose/assemble.js')
    return await assemble({
      settings,
      clock,
      callerClock: replace.callerClock ?? clock,
      log,
      tls,
      catalogue,
      telemetry,
      recovery: await opening,
      store: replace.store?.(sqlite) ?? sqlite,
      executor,
      executorReady: async () => threads?.ready(),
      undo,
    })
  } catch (error) {
    for (const close of undo.toReversed()) await close().catch(() => {})
    throw error
  }
}

interface StoreParts {
  readonly clock: Clock
  readonly log: Log
  readonly isInline: boolean
}

function sqliteStore(settings: Settings, { clock, log, isInline }: StoreParts): SqliteStore {
  return new SqliteStore({
    folder: settings.data,
    durability: settings.durability,
    priorityStepMs: settings.priorityStep,
    runIn: isInline ? 'inline' : 'thread',
    now: () => clock.now(),
    encodeResult,
    log,
  })
}

/** When the operator names none: as many as the design has, if it says how many. */
function sharedSlots({ scheduler }: Settings): number {
  const { shared } = PRESETS[scheduler].slots
  return shared === Infinity ? DEFAULT_SHARED_SLOTS : shared
}

interface ThreadParts {
  readonly config: Config
  readonly modules: readonly string[]
  readonly catalogue: HandlerCatalogue
  readonly telemetry: Telemetry
  readonly clock: Clock
  readonly log: Log
}

function threadOptions({
  config,
  modules,
  catalogue,
  telemetry,
  clock,
  log,
}: ThreadParts): ThreadExecutorOptions {
  const { settings, handlerEnv } = config
  return {
    catalogue,
    modules,
    threadSlots: settings.threads,
    sharedSlots: settings.sharedSlots ?? sharedSlots(settings),
    memoryLimitMb: Math.round(settings.threadMemory / MiB),
    env: handlerEnv,
    maxOutputBytes: settings.maxOutputBytes,
    instrumentation: telemetry.threadInstrumentation,
    times: {},
    clock,
    log,
  }
}

/** The operator's modules, or the demo's. */
function handlerModules(settings: Settings): readonly string[] {
  if (settings.handlers) return settings.handlers.map((module) => moduleUrl(module).href)
  const built = new URL('./handlers/demo-handlers.js', import.meta.url)
  return [existsSync(built) ? built.href : new URL('./handlers/demo-handlers.ts', import.meta.url).href]
}

function readTls({ tlsCert, tlsKey, tlsCa }: Settings): Tls | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined
  const pem = (flag: string, file: string): Buffer => {
    try {
      return readFileSync(file)
    } catch (error) {
      throw new Error(`--${flag}: cannot read ${file}: ${(error as Error).message}`, { cause: error })
    }
  }
  return {
    cert: pem('tls-cert', tlsCert),
    key: pem('tls-key', tlsKey),
    ...(tlsCa !== undefined && { ca: pem('tls-ca', tlsCa) }),
  }
}
