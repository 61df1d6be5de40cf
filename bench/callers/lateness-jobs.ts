import { setTimeout as sleep } from 'node:timers/promises'
import type { TaskResult } from '../../proto/generated/punctual/v1/result.js'
import { Position } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { quantile } from '../measure/spread.js'
import { inFlight, type Target } from './measured.js'
import { RawClient, streamMessage, taskMessage } from './raw-client.js'

/** How late starts were, in milliseconds. */
export interface Lateness {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Started before their due time. */
  readonly early: number
}

/** Between scheduling and the first due time: nothing of the one shall disturb the other. */
const AHEAD_MS = 2_000

/** Tasks at random moments of some seconds; from each result: when its handler started, less its due time. */
export async function spreadLateness(given: {
  readonly target: Target
  readonly tasks: number
  readonly seconds: number
}): Promise<Lateness> {
  const { target, tasks, seconds } = given
  const client = await new RawClient(target.address).ready()
  const late = new Late(client, tasks, () => true)
  try {
    await late.reading
    const requests = Array.from({ length: tasks }, () =>
      taskMessage({ dueInMs: AHEAD_MS + Math.floor(Math.random() * seconds * 1_000) }),
    )
    await client.scheduleBatch(requests)
    return await late.found
  } finally {
    late.stop()
    client.close()
  }
}

/** A backlog that is drained at full speed, and beside it, now and then, a task of a higher priority. Lateness of those. */
export async function probeLateness(given: {
  readonly target: Target
  readonly backlog: number
  readonly probes: number
  readonly everyMs: number
}): Promise<Lateness & { readonly backlogLeft: number }> {
  const { target, backlog, probes, everyMs } = given
  const client = await new RawClient(target.address).ready()
  let left = backlog
  let drained: () => void = () => {}
  const isDrained = new Promise<void>((resolve) => (drained = resolve))
  const isProbe = (result: TaskResult): boolean => {
    if (result.labels['kind'] === 'probe') return true
    left--
    if (left === 0) drained()
    return false
  }
  const late = new Late(client, probes, isProbe)
  try {
    await late.reading
    const size = 1_000
    await inFlight(Math.ceil(backlog / size), 4, async (index) => {
      const members = Math.min(size, backlog - index * size)
      await client.scheduleBatch(Array.from({ length: members }, () => taskMessage()))
    })
    for (let i = 0; i < probes; i++) {
      await client.schedule(taskMessage({ priority: 10, labels: { kind: 'probe' } }))
      await sleep(everyMs)
    }
    const backlogLeft = left
    const found = await late.found
    // the next round begins with nothing of this one
    await isDrained
    return { ...found, backlogLeft }
  } finally {
    late.stop()
    client.close()
  }
}

/** What a bare timer of Node reaches on this machine, now: one armed `setTimeout` at a time, as the scheduler arms it. */
export async function timerLateness({
  timers,
  seconds,
}: {
  readonly timers: number
  readonly seconds: number
}): Promise<Lateness> {
  const begin = Date.now() + 100
  const due = Array.from(
    { length: timers },
    () => begin + Math.floor(Math.random() * seconds * 1_000),
  ).toSorted((a, b) => a - b)
  const late: number[] = []
  for (const at of due) {
    // two in one millisecond are served together
    while (wallMs() < at) await sleep(Math.max(1, Math.ceil(at - wallMs())))
    late.push(wallMs() - at)
  }
  return latenessOf(late)
}

const wallMs = (): number => performance.timeOrigin + performance.now()

function latenessOf(values: readonly number[]): Lateness {
  const sorted = values.toSorted((a, b) => a - b)
  return {
    count: sorted.length,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    maxMs: quantile(sorted, 1),
    early: sorted.filter((ms) => ms < 0).length,
  }
}

/** Reads results from now on, until enough of them are of the kind that is looked for. */
class Late {
  /** The stream is open. */
  readonly reading: Promise<void>
  readonly found: Promise<Lateness>
  readonly #stream

  constructor(client: RawClient, wanted: number, isWanted: (result: TaskResult) => boolean) {
    const values: number[] = []
    const stream = client.stub.streamResults(streamMessage(Position.LATEST))
    this.#stream = stream
    this.reading = new Promise((resolve) => stream.once('data', () => resolve()))
    this.found = new Promise((resolve, reject) => {
      stream.on('error', reject)
      stream.on('data', ({ results }: { readonly results: readonly TaskResult[] }) => {
        for (const result of results) if (isWanted(result)) values.push(latenessMs(result))
        if (values.length >= wanted) resolve(latenessOf(values))
      })
    })
    this.found.catch(() => {})
  }

  stop(): void {
    this.#stream.cancel()
  }
}

function latenessMs({ startTime, dueTime }: TaskResult): number {
  if (!startTime || !dueTime) return Number.NaN
  return Number(startTime.seconds - dueTime.seconds) * 1_000 + (startTime.nanos - dueTime.nanos) / 1e6
}
