import { randomUUID } from 'node:crypto'
import { PunctualError, type SchedulerClient } from 'punctual'
import type { handlers } from './handlers.js'
import { type JobRun, jobRun } from './job-run.js'

/** The article's jobs, by the seconds that they take. */
export const JOBS = [1, 2, 3, 4, 5] as const

/** Between scheduling and the beginning, so that all jobs are known by then. */
const LEAD_MS = 1_000

export interface Round {
  readonly client: SchedulerClient<typeof handlers>
  /** Starts of one job are at least so far apart. */
  readonly intervalMs: number
  readonly spanMs: number
  /** Lets the server's time pass: by waiting, or by a virtual clock. */
  readonly pass: (ms: number) => Promise<unknown>
}

/** Lets the jobs repeat for a while, then cancels them. What ran is read from the stream of results, in order of start. */
export async function playRound({ client, intervalMs, spanMs, pass }: Round): Promise<readonly JobRun[]> {
  const round = randomUUID()
  const jobOf = new Map(JOBS.map((seconds) => [`${round}/${seconds}`, seconds]))
  const { serverTime = new Date() } = await client.serverInfo()
  const begin = new Date(serverTime.getTime() + LEAD_MS)
  const stored = await client.scheduleMany(
    [...jobOf].map(([id, seconds]) => ({
      id,
      handler: 'job',
      input: { seconds },
      dueTime: begin,
      recurrence: { minIntervalMs: intervalMs },
      labels: { round },
    })),
  )
  for (const answer of stored) if (answer instanceof PunctualError) throw answer
  await pass(LEAD_MS + spanMs)
  await Promise.all([...jobOf.keys()].map((id) => client.cancel(id)))
  await pass(0)
  return read(client, round, jobOf, begin)
}

async function read(
  client: Round['client'],
  round: string,
  jobOf: ReadonlyMap<string, number>,
  begin: Date,
): Promise<readonly JobRun[]> {
  const runs: JobRun[] = []
  let open = jobOf.size
  for await (const result of client.results({ filter: { labels: { round } }, from: 'earliest' })) {
    const run = jobRun(jobOf.get(result.taskId) ?? 0, begin, result)
    if (run !== undefined) runs.push(run)
    if (result.last && --open === 0) break
  }
  return runs.toSorted((a, b) => a.start - b.start)
}
