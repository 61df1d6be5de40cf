import type {
  Consumer,
  GetServerInfoResponse,
  GetStatsResponse,
  Handler as HandlerMessage,
  LatencyStats as LatencyMessage,
} from '../proto/generated/punctual/v1/scheduler_service.js'
import { fromFilterMessage, type ResultFilter } from './result-stream.js'
import { type TaskState, toOutcome, toTaskState } from './task-info.js'
import type { ResultOutcome } from './task-result.js'
import { toDate } from './wire-time.js'

/** Percentiles over one period, in milliseconds. */
export interface LatencyStats {
  readonly period: string
  readonly count: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** A durable consumer of the result log. */
export interface ConsumerInfo {
  readonly name: string
  readonly cursor: string
  /** Entries after its position, before filtering. */
  readonly lag: number
  /** What it was made with. */
  readonly filter: ResultFilter
  /** It also reads attempts that did not end their run. */
  readonly includeAttempts: boolean
  /** Retention does not wait for it. */
  readonly lossy: boolean
  /** A stream is open. */
  readonly connected: boolean
  readonly createTime?: Date
  readonly activeTime?: Date
}

/** What `client.stats()` answers. Plain data. */
export interface ServerStats {
  /** Tasks in each state, exact; ended ones as long as they are kept. */
  readonly states: Readonly<Partial<Record<TaskState, number>>>
  /** Results by handler and outcome since `startTime`. */
  readonly outcomes: readonly {
    readonly handler: string
    readonly outcome: ResultOutcome
    readonly count: number
  }[]
  readonly lanes: readonly { readonly lane: string; readonly slots: number; readonly busy: number }[]
  /** Start − due time of first attempts, by period. */
  readonly lateness: readonly LatencyStats[]
  /** Start of attempts − when each could have started (its due time or, for a retry, the end of its back-off), by period. */
  readonly wait: readonly LatencyStats[]
  /** End − start of attempts, by period. */
  readonly duration: readonly LatencyStats[]
  readonly store?: {
    readonly bytes: number
    readonly maxBytes: number
    readonly logEntries: number
    readonly earliestCursor: string
    readonly latestCursor: string
    readonly available: boolean
  }
  readonly consumers: readonly ConsumerInfo[]
  /** What the server's watchdog has found and has not yet seen healed. Empty = all is well. */
  readonly findings: readonly { readonly kind: string; readonly message: string; readonly since?: Date }[]
  readonly startTime?: Date
  readonly openStreams: number
  /** Due tasks that wait for a slot. */
  readonly dueWaiting: number
}

/** A handler that the server has loaded. */
export interface HandlerInfo {
  readonly name: string
  readonly description: string
  readonly lane: string
  /** JSON Schema, where the handler has one. */
  readonly inputSchema?: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
  /** Attempts at once; 0 = as many as the lane has slots. */
  readonly maxConcurrent: number
}

/** What `client.serverInfo()` answers. */
export interface ServerInfo {
  readonly version: string
  readonly serverTime?: Date
  /** By name, such as max_input_bytes. */
  readonly limits: Readonly<Record<string, number>>
  readonly features: readonly string[]
  readonly logId: string
}

export function toServerStats(message: GetStatsResponse): ServerStats {
  const states: Partial<Record<TaskState, number>> = {}
  for (const { state, count } of message.states) states[toTaskState(state)] = Number(count)
  return {
    states,
    outcomes: message.outcomes.flatMap(({ handler, outcome, count }) => {
      const known = toOutcome(outcome)
      return known === undefined ? [] : [{ handler, outcome: known, count: Number(count) }]
    }),
    lanes: message.lanes.map(({ lane, slots, busy }) => ({ lane, slots, busy })),
    lateness: message.lateness.map(toLatency),
    wait: message.wait.map(toLatency),
    duration: message.duration.map(toLatency),
    ...(message.store && {
      store: {
        bytes: Number(message.store.bytes),
        maxBytes: Number(message.store.maxBytes),
        logEntries: Number(message.store.logEntries),
        earliestCursor: message.store.earliestCursor,
        latestCursor: message.store.latestCursor,
        available: message.store.available,
      },
    }),
    consumers: message.consumers.map(toConsumerInfo),
    findings: message.findings.map(({ kind, message: text, since }) => ({
      kind,
      message: text,
      ...(since && { since: toDate(since) }),
    })),
    ...(message.startTime && { startTime: toDate(message.startTime) }),
    openStreams: Number(message.openStreams),
    dueWaiting: Number(message.dueWaiting),
  }
}

export function toConsumerInfo(consumer: Consumer): ConsumerInfo {
  const { name, cursor, lag, filter, includeAttempts, lossy, connected, createTime, activeTime } = consumer
  return {
    name,
    cursor,
    lag: Number(lag),
    filter: filter ? fromFilterMessage(filter) : {},
    includeAttempts,
    lossy,
    connected,
    ...(createTime && { createTime: toDate(createTime) }),
    ...(activeTime && { activeTime: toDate(activeTime) }),
  }
}

export function toHandlerInfo(handler: HandlerMessage): HandlerInfo {
  const { name, description, lane, inputSchema, outputSchema, maxConcurrent } = handler
  return {
    name,
    description,
    lane,
    ...(inputSchema && { inputSchema }),
    ...(outputSchema && { outputSchema }),
    maxConcurrent,
  }
}

export function toServerInfo(message: GetServerInfoResponse): ServerInfo {
  const { version, serverTime, limits, features, logId } = message
  return {
    version,
    ...(serverTime && { serverTime: toDate(serverTime) }),
    limits: Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, Number(limit)])),
    features,
    logId,
  }
}

function toLatency({ period, count, ...ms }: LatencyMessage): LatencyStats {
  return { period, count: Number(count), ...ms }
}
