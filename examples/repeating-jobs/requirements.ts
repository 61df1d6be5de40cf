import type { JobRun } from './job-run.js'

/** What the article asks of its scheduler, and whether a round kept it. */
export interface Requirement {
  readonly text: string
  /** What was seen against it; empty: it holds. */
  readonly against: readonly string[]
}

export interface Asked {
  readonly jobs: readonly number[]
  readonly workers: number
  readonly intervalMs: number
  /** How late a start may be on a machine that does other things, too. */
  readonly toleranceMs: number
}

/** Instants are cut to the millisecond, so two of them may differ by one more or less than they did. */
const ROUNDING_MS = 1

/** The five requirements of the article, checked from what ran. @param runs - In order of start. */
export function checkRequirements(runs: readonly JobRun[], asked: Asked): readonly Requirement[] {
  return [
    {
      text: 'all start at once: as many as there are workers, the others as soon as one is free',
      against: lateFirstStarts(runs, asked),
    },
    { text: `at most ${asked.workers} run at a time`, against: crowds(runs, asked) },
    { text: 'a job never runs beside itself', against: besideThemselves(runs, asked) },
    {
      text: 'back to the end of the queue when done: who has waited longest starts first',
      against: jumps(runs, asked),
    },
    {
      text: `starts of a job are at least ${asked.intervalMs / 1_000} s apart`,
      against: tooSoon(runs, asked),
    },
  ]
}

function lateFirstStarts(runs: readonly JobRun[], { jobs, workers, toleranceMs }: Asked): string[] {
  const firsts = jobs.map((job) => ({ job, run: runs.find((run) => run.job === job) }))
  return firsts.flatMap(({ job, run }) => {
    if (run === undefined) return [`job ${job} never started`]
    const before = runs.slice(0, runs.indexOf(run))
    // the moment at which one of the workers had nothing to do any more
    const ends = before.map(({ end }) => end).toSorted((a, b) => a - b)
    const possible = ends[before.length - workers] ?? 0
    return run.due === 0 && run.start <= possible + toleranceMs
      ? []
      : [`job ${job}, due at ${run.due} ms, started at ${run.start} ms; ${possible} ms was possible`]
  })
}

function crowds(runs: readonly JobRun[], { workers }: Asked): string[] {
  return runs.flatMap((run) => {
    const running = runs.filter((other) => other.start <= run.start && other.end > run.start + ROUNDING_MS)
    return running.length <= workers ? [] : [`${running.length} at ${run.start} ms`]
  })
}

function besideThemselves(runs: readonly JobRun[], { jobs }: Asked): string[] {
  return successions(runs, jobs)
    .filter(([run, next]) => next.start < run.end - ROUNDING_MS)
    .map(([run, next]) => `job ${run.job} started at ${next.start} ms and ran until ${run.end} ms`)
}

function jumps(runs: readonly JobRun[], { jobs, intervalMs, toleranceMs }: Asked): string[] {
  const wrongDue = successions(runs, jobs).filter(
    ([run, next]) => Math.abs(next.due - Math.max(run.end, run.start + intervalMs)) > toleranceMs,
  )
  const overtaken = runs.flatMap((run, index) =>
    runs
      .slice(0, index)
      .filter((earlier) => earlier.due > run.due + ROUNDING_MS && earlier.start < run.start - ROUNDING_MS)
      .map((earlier) => ({ run, earlier })),
  )
  return [
    ...wrongDue.map(
      ([run, next]) => `job ${run.job} ended at ${run.end} ms and was due again at ${next.due} ms`,
    ),
    ...overtaken.map(
      ({ run, earlier }) =>
        `job ${earlier.job} started at ${earlier.start} ms, before job ${run.job}, due since ${run.due} ms`,
    ),
  ]
}

function tooSoon(runs: readonly JobRun[], { jobs, intervalMs }: Asked): string[] {
  return successions(runs, jobs)
    .filter(([run, next]) => next.start - run.start < intervalMs - ROUNDING_MS)
    .map(([run, next]) => `job ${run.job} started at ${run.start} ms and at ${next.start} ms`)
}

/** Each run of a job with the one after it. */
function successions(runs: readonly JobRun[], jobs: readonly number[]): (readonly [JobRun, JobRun])[] {
  return jobs.flatMap((job) => {
    const own = runs.filter((run) => run.job === job)
    return own.flatMap((run, index) => {
      const next = own[index + 1]
      return next === undefined ? [] : [[run, next] as const]
    })
  })
}
