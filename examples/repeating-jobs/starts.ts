import Table from 'cli-table3'
import type { JobRun } from './job-run.js'

/** How often a job started. */
export interface Starts {
  readonly job: number
  readonly starts: number
}

/** Starts of each job before the round was over. */
export function countStarts(
  runs: readonly JobRun[],
  jobs: readonly number[],
  spanMs: number,
): readonly Starts[] {
  return jobs.map((job) => ({
    job,
    starts: runs.filter((run) => run.job === job && run.start < spanMs).length,
  }))
}

/** Whether the shortest job started at least as often as the longest. */
export function isFair(starts: readonly Starts[]): boolean {
  const byLength = starts.toSorted((a, b) => a.job - b.job)
  return (byLength[0]?.starts ?? 0) >= (byLength.at(-1)?.starts ?? 0)
}

/** The counts of several rounds side by side. */
export function startsTable(
  rounds: readonly { readonly name: string; readonly starts: readonly Starts[] }[],
): string {
  const table = new Table({
    head: ['starts', ...rounds.map(({ name }) => name)],
    colAligns: ['left', ...rounds.map(() => 'right' as const)],
    style: { head: [], border: [] },
  })
  for (const { job } of rounds[0]?.starts ?? []) {
    const counts = rounds.map(({ starts }) => String(starts.find((one) => one.job === job)?.starts ?? 0))
    table.push([`job of ${job} s`, ...counts])
  }
  return table.toString()
}
