import { Admission } from '../admission/admission.js'
import { type Clock, systemClock } from '../clock.js'
import type { Settings } from '../config/settings.js'
import type { Executor } from '../executor/executor.js'
import type { HandlerCatalogue } from '../handlers/catalogue.js'
import { Retention } from '../maintenance/retention.js'
import { releasedThrough } from '../results/consumer-patience.js'
import { Consumers } from '../results/consumers.js'
import { ResultLog } from '../results/result-log.js'
import { ConsumerService } from '../rpc/consumer-service.js'
import { GrpcServer, type Tls } from '../rpc/grpc-server.js'
import { ResultStreaming } from '../rpc/result-streaming.js'
import { ServerService } from '../rpc/server-service.js'
import { serverTracing } from '../rpc/server-tracing.js'
import { TaskService } from '../rpc/task-service.js'
import { PRESETS } from '../scheduler/presets.js'
import { Scheduler } from '../scheduler/scheduler.js'
import { Statistics } from '../stats/statistics.js'
import type { Recovery, TaskStore } from '../store/task-store.js'
import type { Log } from '../task/log.js'
import type { Telemetry } from '../telemetry/telemetry.js'
import { StoreCalls } from '../watchdog/store-calls.js'
import { Watchdog } from '../watchdog/watchdog.js'
import { consumerFindings } from './consumer-findings.js'
import { countedStore } from './counted-store.js'
import { RunningServer } from './running-server.js'
import { serverInfo } from './server-info.js'
import { watchedStore } from './watched-store.js'

/** What is there before the rest is put together. */
export interface Foundations {
  readonly settings: Settings
  readonly clock: Clock
  readonly callerClock: Clock
  readonly log: Log
  readonly tls: Tls | undefined
  readonly catalogue: HandlerCatalogue
  readonly telemetry: Telemetry
  readonly store: TaskStore
  /** What the store found. */
  readonly recovery: Recovery
  readonly executor: Executor
  /** Resolves when attempts can run; rejects when the handlers cannot be loaded where they run. */
  readonly executorReady: () => Promise<void>
  /** How to close what was opened, in order. */
  readonly undo: (() => Promise<unknown>)[]
}

/** The services around the scheduler, on their port. @throws Error with one clear line when the address cannot be had. */
export async function assemble(foundations: Foundations): Promise<RunningServer> {
  const { settings, clock, callerClock, log, tls, catalogue, telemetry, recovery, undo } = foundations
  const statistics = new Statistics(clock)
  const calls = new StoreCalls(clock)
  const bareStore = watchedStore(foundations.store, calls)
  const store = countedStore(telemetry.store(bareStore), statistics)

  const executor = telemetry.executor(foundations.executor)
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
  await foundations.executorReady()
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
