import { existsSync, readFileSync } from 'node:fs'
import { Admission } from './admission/admission.js'
import { type Clock, systemClock } from './clock.js'
import { consumerFindings } from './compose/consumer-findings.js'
import { countedStore } from './compose/counted-store.js'
import { RunningServer } from './compose/running-server.js'
import { serverInfo, version } from './compose/server-info.js'
import { watchedStore } from './compose/watched-store.js'
import type { Config } from './config/read-config.js'
import type { Settings } from './config/settings.js'
import type { Executor } from './executor/executor.js'
import { ThreadExecutor, type ThreadExecutorOptions } from './executor/thread-executor.js'
import type { HandlerCatalogue } from './handlers/catalogue.js'
import { createCatalogue } from './handlers/handler-catalogue.js'
import { type LoadedHandlers, loadHandlers, moduleUrl } from './handlers/load-handlers.js'
import { releasedThrough } from './results/consumer-patience.js'
import { Consumers } from './results/consumers.js'
import { Retention } from './maintenance/retention.js'
import { ResultLog } from './results/result-log.js'
import { ConsumerService } from './rpc/consumer-service.js'
import { GrpcServer, type Tls } from './rpc/grpc-server.js'
import { encodeResult } from './rpc/result-codec.js'
import { ResultStreaming } from './rpc/result-streaming.js'
import { ServerService } from './rpc/server-service.js'
import { serverTracing } from './rpc/server-tracing.js'
import { TaskService } from './rpc/task-service.js'
import { PRESETS } from './scheduler/presets.js'
import { Scheduler } from './scheduler/scheduler.js'
import { Statistics } from './stats/statistics.js'
import { SqliteStore } from './store/sqlite/sqlite-store.js'
import type { TaskStore } from './store/task-store.js'
import type { Log } from './task/log.js'
import { createLogger } from './telemetry/logger.js'
import { startTelemetry, type Telemetry } from './telemetry/telemetry.js'
import { telemetrySettings } from './telemetry/telemetry-settings.js'
import { StoreCalls } from './watchdog/store-calls.js'
import { Watchdog } from './watchdog/watchdog.js'

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
 * Puts a server together and starts it: the only place that knows which parts there are.
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
  const handlers = replace.handlers ?? (await loadHandlers(modules))
  const catalogue = createCatalogue(handlers)
  const telemetry = await startTelemetry(telemetrySettings(config.telemetryEnv, settings.metrics), {
    clock,
    log,
    version: version(),
    isLoaded: (name) => catalogue.get(name) !== undefined,
  })
  const undo: (() => Promise<unknown>)[] = [() => telemetry.shutdown(0)]
  try {
    return await assemble({ config, replace, clock, log, tls, modules, handlers, catalogue, telemetry, undo })
  } catch (error) {
    for (const close of undo.toReversed()) await close().catch(() => {})
    throw error
  }
}

interface Assembly {
  readonly config: Config
  readonly replace: Replacements
  readonly clock: Clock
  readonly log: Log
  readonly tls: Tls | undefined
  readonly modules: readonly string[]
  readonly handlers: LoadedHandlers
  readonly catalogue: HandlerCatalogue
  readonly telemetry: Telemetry
  /** How to close what was opened, in order. */
  readonly undo: (() => Promise<unknown>)[]
}

async function assemble(assembly: Assembly): Promise<RunningServer> {
  const { config, replace, clock, log, tls, handlers, catalogue, telemetry, undo } = assembly
  const { settings } = config
  const callerClock = replace.callerClock ?? clock
  const statistics = new Statistics(clock)
  const sqlite = new SqliteStore({
    folder: settings.data,
    durability: settings.durability,
    priorityStepMs: settings.priorityStep,
    runIn: replace.storeInline ? 'inline' : 'thread',
    now: () => clock.now(),
    encodeResult,
    log,
  })
  const recovery = await sqlite.open()
  undo.push(() => sqlite.close())
  const calls = new StoreCalls(clock)
  const bareStore = watchedStore(replace.store?.(sqlite) ?? sqlite, calls)
  const store = countedStore(telemetry.store(bareStore), statistics)

  const bare = replace.executor?.(handlers, catalogue) ?? new ThreadExecutor(threadOptions(assembly))
  const executor = telemetry.executor(bare)
  undo.push(() => executor.close())
  const scheduler = new Scheduler(
    { store, executor, handlers: catalogue, clock },
    schedulerSettings(settings, log),
  )
  const results = await ResultLog.open(store, recovery.logId)
  const consumers = await Consumers.open({ store, log: results })
  const { maxStreams } = settings
  const streaming = new ResultStreaming({ log: results, consumers, clock: callerClock, maxStreams })
  const consumerService = new ConsumerService(consumers, results)
  const limits = {
    maxInputBytes: settings.maxInputBytes,
    maxWaitingTasks: settings.maxWaitingTasks,
    maxStoreBytes: settings.maxStoreBytes,
  }
  const admission = new Admission({ store, scheduler, handlers: catalogue, clock, limits })
  const ending = new AbortController()
  const tasks = new TaskService({ admission, store, log: results, clock: callerClock, ending: ending.signal })
  const stats = {
    store,
    statistics,
    snapshot: () => scheduler.snapshot(),
    findings: () => watchdog.findings(),
    maxStoreBytes: settings.maxStoreBytes,
  }
  const info = serverInfo(settings)
  const server = new ServerService({
    handlers: catalogue,
    log: results,
    streaming,
    consumers: consumerService,
    stats,
    clock,
    info,
  })
  const grpc = new GrpcServer(
    { tasks, server, consumers: consumerService, streaming, log },
    {
      ...settings.listen,
      ...(tls && { tls }),
      maxMessageBytes: settings.maxMessageBytes,
      keepaliveMs: settings.keepalive,
      interceptors: telemetry.traces ? [serverTracing(clock)] : [],
      // what it waits for are sockets, also where a test has a clock of its own
      clock: systemClock,
    },
  )
  const watchdog = new Watchdog(
    {
      clock,
      log,
      scheduler,
      store,
      calls,
      stopAttempt: (startId) => void executor.stop(startId, 0),
      idleConsumers: () => consumerFindings(consumers.list(), clock.now()),
      onHealth: (isAble) => {
        grpc.health.serving = isAble
      },
    },
    { intervalMs: settings.watchdogInterval, stallMs: settings.stallLimit },
  )
  const retention = new Retention(
    // it only looks now and then: on the time of callers, so that a virtual year is not looked at three million times
    {
      store,
      keepAfter: () => releasedThrough(consumers.list(), clock.now()),
      clock: callerClock,
      log,
    },
    {
      resultsMs: settings.keepResults,
      failedMs: settings.keepFailed,
      maxResultBytes: settings.maxResultBytes,
    },
  )
  telemetry.observe({
    scheduler: () => scheduler.snapshot(),
    storeStats: () => store.stats(),
    storeAvailable: () => scheduler.snapshot().storeAvailable,
    watchdogFindings: () => watchdog.counts(),
    streams: () => streaming.open,
    resultsSent: () => streaming.resultsSent,
    consumers: () => consumers.list(),
  })

  await scheduler.start(recovery)
  undo.push(() => scheduler.close())
  // a handlers module that its thread cannot load must stop the start, not every task later
  if (bare instanceof ThreadExecutor) await bare.ready()
  const port = await grpc.listen()
  // nothing starts before it is certain that this server serves
  if (!settings.hold) scheduler.release()
  grpc.health.serving = true
  watchdog.start()
  retention.start()
  const { host } = settings.listen
  const parts = { store, scheduler, results, streaming, grpc, telemetry, watchdog, retention, ending, log }
  return new RunningServer({ host, port, ...parts })
}

function schedulerSettings(settings: Settings, log: Log) {
  return {
    preset: PRESETS[settings.scheduler],
    windowMs: settings.window,
    capacity: settings.windowTasks,
    priorityStepMs: settings.priorityStep,
    hold: true,
    log,
  }
}

/** When the operator names none: as many as the design has, if it says how many. */
function sharedSlots({ scheduler }: Settings): number {
  const { shared } = PRESETS[scheduler].slots
  return shared === Infinity ? DEFAULT_SHARED_SLOTS : shared
}

function threadOptions({
  config,
  modules,
  catalogue,
  telemetry,
  clock,
  log,
}: Assembly): ThreadExecutorOptions {
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
