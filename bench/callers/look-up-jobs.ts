import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../measure/spread.js'
import { inFlight, timed, type Target } from './measured.js'
import { RawClient, taskMessage } from './raw-client.js'

/** How long calls took, in milliseconds. */
export interface Waits {
  readonly calls: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

/** Between two calls: few enough that they are no load themselves. */
const PAUSE_MS = 2

let stop: (() => Promise<Waits>) | undefined

/** Asks for one task by its id, again and again, one call at a time, until {@link stopLookUps}. */
export async function startLookUps({ target }: { readonly target: Target }): Promise<void> {
  const client = await new RawClient(target.address).ready()
  const { task } = await client.schedule(taskMessage({ dueInMs: 24 * 3_600_000 }))
  const id = task?.spec?.id ?? ''
  const times: number[] = []
  const over = new AbortController()
  const asking = (async () => {
    while (!over.signal.aborted) {
      await timed(times, () => client.getTask(id))
      await sleep(PAUSE_MS)
    }
  })()
  asking.catch(() => {})
  stop = async () => {
    over.abort()
    await asking.finally(() => client.close())
    const sorted = times.toSorted((a, b) => a - b)
    return {
      calls: sorted.length,
      p50Ms: quantile(sorted, 0.5),
      p99Ms: quantile(sorted, 0.99),
      maxMs: quantile(sorted, 1),
    }
  }
}

/** Ends the look-ups; how long they took. */
export async function stopLookUps(): Promise<Waits> {
  if (!stop) throw new Error('no look-ups were started')
  return stop()
}

/** Nothing, or batches one after another, for so long. @returns tasks that were acknowledged. */
export async function batchesFor(given: {
  readonly target: Target
  readonly seconds: number
  /** 0 = nothing is submitted. */
  readonly size: number
  readonly inFlight: number
  readonly dueInMs: number
}): Promise<number> {
  const { target, seconds, size, dueInMs } = given
  if (size === 0) {
    await sleep(seconds * 1_000)
    return 0
  }
  const client = await new RawClient(target.address).ready()
  const until = performance.now() + seconds * 1_000
  let tasks = 0
  try {
    await inFlight(given.inFlight, given.inFlight, async () => {
      while (performance.now() < until) {
        await client.scheduleBatch(Array.from({ length: size }, () => taskMessage({ dueInMs })))
        tasks += size
      }
    })
  } finally {
    client.close()
  }
  return tasks
}
