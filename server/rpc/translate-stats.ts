import type { GetStatsResponse, LatencyStats } from '../../proto/generated/punctual/v1/scheduler_service.js'
import type { LatencySummary } from '../stats/latency-window.js'
import type { Overview } from '../stats/overview.js'
import type { LogPosition } from '../store/task-store.js'
import type { TaskState } from '../task/task.js'
import { OUTCOMES, STATES } from './translate-enums.js'
import { fromInstant } from './translate-time.js'

/** @param cursor - Makes a cursor. @param openStreams - Open StreamResults calls. */
export function fromOverview(
  overview: Overview,
  cursor: (position: LogPosition) => string,
  openStreams: number,
): GetStatsResponse {
  const { store } = overview
  return {
    states: (Object.keys(STATES) as TaskState[]).map((state) => ({
      state: STATES[state],
      count: BigInt(store.states[state]),
    })),
    outcomes: overview.outcomes.map(({ handler, outcome, count }) => ({
      handler,
      outcome: OUTCOMES[outcome],
      count: BigInt(count),
    })),
    lanes: overview.lanes.map((lane) => ({ ...lane })),
    lateness: overview.lateness.map(fromSummary),
    duration: overview.duration.map(fromSummary),
    store: {
      bytes: BigInt(store.bytes),
      maxBytes: BigInt(overview.maxStoreBytes),
      logEntries: BigInt(store.logEntries),
      earliestCursor: cursor(store.earliest),
      latestCursor: cursor(store.latest),
      available: overview.storeAvailable,
    },
    consumers: [],
    findings: overview.findings.map(({ kind, message, since }) => ({
      kind,
      message,
      since: fromInstant(since),
    })),
    startTime: fromInstant(overview.startTime),
    openStreams: BigInt(openStreams),
    dueWaiting: BigInt(overview.dueWaiting),
  }
}

function fromSummary({ count, ...rest }: LatencySummary): LatencyStats {
  return { ...rest, count: BigInt(count) }
}
