import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, CursorLostError, type ResultOptions, type SchedulerClient } from 'punctual'
import type { ReaderParts } from './grpc-readers.js'
import type { ReaderPlan } from './plan.js'
import { Reading } from './reading.js'

const HEARTBEAT_MS = 300

/** Reads with the client, batch by batch; drops the loop now and then and begins another one where it was. */
export async function readBatches(plan: ReaderPlan, parts: ReaderParts): Promise<Reading> {
  const reading = new Reading()
  await using client = createClient({ address: parts.address, heartbeatMs: HEARTBEAT_MS, deadlineMs: 60_000 })
  for (;;) {
    try {
      if (await readSome(client, reading, plan, parts)) return reading
    } catch (error) {
      if (!(error instanceof CursorLostError)) throw error
      reading.lose(error.metadata['earliest_cursor'] ?? '')
    }
  }
}

/** Until the loop is dropped, or (true) over. */
async function readSome(
  client: SchedulerClient,
  reading: Reading,
  plan: ReaderPlan,
  parts: ReaderParts,
): Promise<boolean> {
  const { random, isLast } = parts
  const start = reading.cursor === undefined ? startOf(plan, parts) : { after: reading.cursor }
  reading.streams++
  for await (const { results, cursor } of client.results({ ...start, ...wishOf(plan) }).batches()) {
    const isFirst = reading.first === undefined
    reading.stand(cursor)
    if (isFirst && plan.oversleeps) await parts.overtaken(cursor)
    if (plan.slowMs > 0) await sleep(random.below(plan.slowMs))
    if (random.below(200) < plan.breaks) return false
    reading.keep(results, cursor)
    if (isLast(cursor)) return true
  }
  return false
}

/** Reads with the client as a durable consumer, in one loop from beginning to end: whatever breaks, it goes on by itself. */
export async function readLoop(plan: ReaderPlan, parts: ReaderParts): Promise<Reading> {
  const { address, random, isLast } = parts
  const reading = new Reading()
  await using client = createClient({ address, heartbeatMs: HEARTBEAT_MS, deadlineMs: 60_000 })
  const consumer = `reader-${plan.name.split(':')[0]}`
  const stream = client.results({ consumer, ...startOf(plan, parts), ...wishOf(plan) })
  reading.streams = 1
  for await (const { results, cursor } of stream.batches()) {
    reading.first ??= cursor
    if (plan.slowMs > 0) await sleep(random.below(plan.slowMs))
    reading.keep(results, cursor)
    if (isLast(cursor)) break
  }
  return reading
}

const wishOf = ({ filter, includeAttempts }: ReaderPlan): ResultOptions => ({ filter, includeAttempts })

function startOf({ start }: ReaderPlan, { since }: ReaderParts): ResultOptions {
  return start === 'since' ? { since } : { from: start }
}
