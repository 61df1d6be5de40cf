import type { BatchObservableResult, Meter, Observable } from '@opentelemetry/api'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Lane } from '../executor/executor.js'
import type { StoreStats } from '../store/task-store.js'
import { METRICS, type MetricInfo } from './metric-list.js'

/** What the parts of the server can tell whenever somebody looks. What is absent is not reported. */
export interface MetricSources {
  readonly scheduler?: () => {
    readonly lanes: readonly { readonly lane: Lane; readonly slots: number; readonly busy: number }[]
    readonly near: number
    readonly dueWaiting: number
    readonly draining: boolean
  }
  readonly storeStats?: () => Promise<StoreStats>
  /** Whether the last write to the store went well. */
  readonly storeAvailable?: () => boolean
  /** Open result streams. */
  readonly streams?: () => number
  /** Results sent on streams since the start. */
  readonly resultsSent?: () => number
  /** Durable consumers, each with the entries that it has not acknowledged. */
  readonly consumers?: () => readonly { readonly name: string; readonly lag: number }[]
  /** Findings of the watchdog since the start, by kind; kinds are fixed words. */
  readonly watchdogFindings?: () => Readonly<Record<string, number>>
}

/** Finer than this, looking at the loop costs more than it tells. */
const LOOP_RESOLUTION_MS = 20

/** Of more consumers only the largest lag is told: names come from callers, and each is a time series. */
const NAMED_CONSUMERS = 50

type Look = (metric: MetricInfo, value: number, ...values: readonly string[]) => void

/**
 * Reports what the sources tell, at each collection.
 *
 * @returns The way to stop.
 */
export function observeSources(meter: Meter, sources: MetricSources): () => void {
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS })
  loop.enable()
  const observables = new Map<MetricInfo, Observable>(
    OBSERVED.map((metric) => [metric, create(meter, metric)]),
  )
  const callback = async (result: BatchObservableResult): Promise<void> => {
    const look: Look = (metric, value, ...values) => {
      const observable = observables.get(metric)
      const attributes = Object.fromEntries(metric.attributes.map((name, index) => [name, values[index]]))
      if (observable && Number.isFinite(value)) result.observe(observable, value, attributes)
    }
    observeLoop(look, loop)
    observeNow(look, sources)
    observeConsumers(look, sources)
    await observeStore(look, sources)
  }
  meter.addBatchObservableCallback(callback, [...observables.values()])
  return () => {
    meter.removeBatchObservableCallback(callback, [...observables.values()])
    loop.disable()
  }
}

function observeNow(look: Look, { scheduler, streams, resultsSent, watchdogFindings }: MetricSources): void {
  const snapshot = scheduler?.()
  if (snapshot) {
    for (const { lane, slots, busy } of snapshot.lanes) {
      look(METRICS.slots, slots, lane)
      look(METRICS.slotsBusy, busy, lane)
    }
    look(METRICS.tasksNear, snapshot.near)
    look(METRICS.tasksDue, snapshot.dueWaiting)
    look(METRICS.draining, Number(snapshot.draining))
  }
  if (streams) look(METRICS.streams, streams())
  if (resultsSent) look(METRICS.resultsSent, resultsSent())
  for (const [kind, count] of Object.entries(watchdogFindings?.() ?? {}))
    look(METRICS.watchdogFindings, count, kind)
}

async function observeStore(look: Look, { storeStats, storeAvailable }: MetricSources): Promise<void> {
  const stats = await storeStats?.().catch(() => undefined)
  if (storeAvailable) look(METRICS.storeAvailable, Number(storeAvailable()))
  if (stats === undefined) return
  for (const [state, count] of Object.entries(stats.states)) look(METRICS.tasks, count, state)
  look(METRICS.storeSize, stats.bytes)
  look(METRICS.logEntries, stats.logEntries)
}

function observeConsumers(look: Look, { consumers }: MetricSources): void {
  const all = consumers?.()
  if (all === undefined) return
  look(METRICS.consumers, all.length)
  look(
    METRICS.consumerMaxLag,
    all.reduce((most, { lag }) => Math.max(most, lag), 0),
  )
  for (const { name, lag } of all.slice(0, NAMED_CONSUMERS)) look(METRICS.consumerLag, lag, name)
}

function observeLoop(look: Look, loop: ReturnType<typeof monitorEventLoopDelay>): void {
  // Node measures from timer to timer; what is over the timer's own interval is the delay.
  const seconds = (nanos: number): number => Math.max(0, nanos / 1e6 - LOOP_RESOLUTION_MS) / 1_000
  if (loop.count > 0) {
    look(METRICS.loopDelayP50, seconds(loop.percentile(50)))
    look(METRICS.loopDelayP99, seconds(loop.percentile(99)))
    look(METRICS.loopDelayMax, seconds(loop.max))
  }
  loop.reset()
}

const OBSERVED: readonly MetricInfo[] = [
  METRICS.slots,
  METRICS.slotsBusy,
  METRICS.tasks,
  METRICS.tasksDue,
  METRICS.tasksNear,
  METRICS.draining,
  METRICS.storeSize,
  METRICS.storeAvailable,
  METRICS.logEntries,
  METRICS.streams,
  METRICS.resultsSent,
  METRICS.consumers,
  METRICS.consumerMaxLag,
  METRICS.consumerLag,
  METRICS.watchdogFindings,
  METRICS.loopDelayP50,
  METRICS.loopDelayP99,
  METRICS.loopDelayMax,
]

function create(meter: Meter, { name, kind, unit, description }: MetricInfo): Observable {
  return kind === 'counter'
    ? meter.createObservableCounter(name, { unit, description })
    : meter.createObservableGauge(name, { unit, description })
}
