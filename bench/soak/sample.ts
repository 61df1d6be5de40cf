import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { residentBytes } from '../measure/process-cost.js'
import { quantile } from '../measure/spread.js'

/** What is watched over the whole run: name, unit, and how it is read. */
export const SERIES = [
  { name: 'memory', unit: 'MiB', mayGrowBy: 16 },
  { name: 'open files', unit: 'files', mayGrowBy: 4 },
  { name: 'threads', unit: 'threads', mayGrowBy: 2 },
  { name: 'write-ahead log', unit: 'MiB', mayGrowBy: 4 },
  { name: 'lateness, median', unit: 'ms', mayGrowBy: 1 },
  { name: 'lateness, p99', unit: 'ms', mayGrowBy: 25 },
  { name: 'Schedule, median', unit: 'ms', mayGrowBy: 2 },
] as const

export type SeriesName = (typeof SERIES)[number]['name']

/** One reading of everything. */
export interface Sample {
  /** Seconds since the start. */
  readonly at: number
  readonly values: Readonly<Record<SeriesName, number>>
}

/** What was measured since the last sample. */
export interface Measured {
  readonly latenessMs: number[]
  readonly scheduleMs: number[]
}

const MiB = 2 ** 20

/** Reads a process from outside; what the system does not tell is NaN. */
export function sample(pid: number, data: string, at: number, { latenessMs, scheduleMs }: Measured): Sample {
  const late = latenessMs.toSorted((a, b) => a - b)
  const calls = scheduleMs.toSorted((a, b) => a - b)
  return {
    at,
    values: {
      memory: residentBytes(pid) / MiB,
      'open files': entries(`/proc/${pid}/fd`),
      threads: entries(`/proc/${pid}/task`),
      'write-ahead log':
        (statSync(join(data, 'punctual.db-wal'), { throwIfNoEntry: false })?.size ?? 0) / MiB,
      'lateness, median': quantile(late, 0.5),
      'lateness, p99': quantile(late, 0.99),
      'Schedule, median': quantile(calls, 0.5),
    },
  }
}

function entries(folder: string): number {
  try {
    return readdirSync(folder).length
  } catch {
    return Number.NaN
  }
}
