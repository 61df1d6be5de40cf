import { costBetween, processCost } from '../measure/process-cost.js'
import { quantile } from '../measure/spread.js'

/** Whom a job calls. */
export interface Target {
  readonly address: string
  readonly pid: number
}

/** What a job of many tasks came to. */
export interface Measured {
  readonly tasks: number
  readonly perSecond: number
  /** Microseconds of CPU for each task. */
  readonly serverUs: number
  readonly serverMainUs: number
  readonly clientUs: number
  /** Milliseconds that calls took, where they were timed. */
  readonly p50Ms: number
  readonly p99Ms: number
}

/** Times some work, and what it costs both processes. */
export async function measured(
  target: Pick<Target, 'pid'>,
  tasks: number,
  work: (times: number[]) => Promise<void>,
): Promise<Measured> {
  const times: number[] = []
  const server = processCost(target.pid)
  const client = process.cpuUsage()
  const since = performance.now()
  await work(times)
  const ms = performance.now() - since
  const { user, system } = process.cpuUsage(client)
  const used = costBetween(server, processCost(target.pid))
  const sorted = times.toSorted((a, b) => a - b)
  return {
    tasks,
    perSecond: (tasks / ms) * 1_000,
    serverUs: used.cpuUs / tasks,
    serverMainUs: used.mainUs / tasks,
    clientUs: (user + system) / tasks,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
  }
}

/** Does `one` for each number below `count`, at most `inFlight` at once. */
export async function inFlight(
  count: number,
  atOnce: number,
  one: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await one(next++)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane))
}

/** Notes how long a call took. */
export async function timed<T>(times: number[], call: () => Promise<T>): Promise<T> {
  const since = performance.now()
  const answer = await call()
  times.push(performance.now() - since)
  return answer
}
