import type { Lane } from '../executor/executor.js'
import type { StoreStats, TaskStore } from '../store/task-store.js'
import type { Instant } from '../task/instant.js'
import type { LatencySummary } from './latency-window.js'
import type { OutcomeCount, Statistics } from './statistics.js'

/** Something wrong that the server itself has noticed. */
export interface Finding {
  readonly kind: string
  readonly message: string
  readonly since: Instant
}

/** What the scheduler tells of itself. */
export interface SchedulerSnapshot {
  readonly lanes: readonly { readonly lane: Lane; readonly slots: number; readonly busy: number }[]
  readonly dueWaiting: number
  /** Whether the store commits at present. */
  readonly storeAvailable: boolean
}

export interface OverviewParts {
  readonly store: Pick<TaskStore, 'stats'>
  readonly statistics: Statistics
  readonly snapshot: () => SchedulerSnapshot
  readonly findings: () => readonly Finding[]
  readonly maxStoreBytes: number
}

/** How the server is doing, at one moment. */
export interface Overview extends SchedulerSnapshot {
  readonly startTime: Instant
  readonly outcomes: readonly OutcomeCount[]
  readonly lateness: readonly LatencySummary[]
  readonly wait: readonly LatencySummary[]
  readonly duration: readonly LatencySummary[]
  readonly store: StoreStats
  readonly maxStoreBytes: number
  readonly findings: readonly Finding[]
}

/** Puts together what the parts know; a scan of nothing. */
export async function overview(parts: OverviewParts): Promise<Overview> {
  const { statistics } = parts
  return {
    ...parts.snapshot(),
    startTime: statistics.startTime,
    outcomes: statistics.outcomes(),
    lateness: statistics.lateness(),
    wait: statistics.wait(),
    duration: statistics.duration(),
    store: await parts.store.stats(),
    maxStoreBytes: parts.maxStoreBytes,
    findings: parts.findings(),
  }
}
