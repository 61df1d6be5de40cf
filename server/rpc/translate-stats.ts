import type { GetStatsResponse, LatencyStats } from '../../proto/generated/punctual/v1/scheduler_service.js'
import type { LatencySummary } from '../stats/latency-window.js'
import type { Overview } from '../stats/overview.js'
import type { LogPosition } from '../store/task-store.js'
import type { TaskState } from '../task/task.js'
import { OUTCOMES, STATES } from './translate-enums.js'
import { fromInstant } from './translate-time.js'

/** @param cursor - Makes a cursor. */
export function fromOverview(
  overview: Overview,
  cursor: (position: LogPosition) => string,
): Omit<GetStatsResponse, 'consumers' | 'openStreams'> {
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
    wait: overview.wait.map(fromSummary),
    duration: overview.duration.map(fromSummary),
    store: {
      bytes: BigInt(store.bytes),
      maxBytes: BigInt(overview.maxStoreBytes),
      logEntries: BigInt(store.logEntries),
      earliestCursor: cursor(store.earliest),
      latestCursor: cursor(store.latest),
      available: overview.storeAvailable,
    },
    findings: overview.findings.map(({ kind, message, since }) => ({
      kind,
      message,
      since: fromInstant(since),
    })),
    startTime: fromInstant(overview.startTime),
    dueWaiting: BigInt(overview.dueWaiting),
  }
}

function fromSummary({ count, ...rest }: LatencySummary): LatencyStats {
  return { ...rest, count: BigInt(count) }
}
