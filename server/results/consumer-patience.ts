import type { LogPosition } from '../store/task-store.js'
import type { Instant } from '../task/instant.js'
import type { ConsumerState } from './consumers.js'

const DAY_MS = 24 * 60 * 60_000
/** Without a stream or an acknowledgement for this long, somebody should be told. */
const IDLE_MS = 7 * DAY_MS
/** From then until retention waits no longer. */
const NOTICE_MS = DAY_MS

/** A consumer for which retention will soon wait no longer, or does not any more. */
export interface IdleConsumer {
  readonly name: string
  readonly lag: number
  readonly activeTime: Instant
  /** When retention stops waiting for it. */
  readonly releaseTime: Instant
}

/** Consumers that keep entries from being removed although nobody has read for them for 7 days. */
export function idleConsumers(consumers: readonly ConsumerState[], now: Instant): IdleConsumer[] {
  return consumers
    .filter((consumer) => holds(consumer) && idleMs(consumer, now) >= IDLE_MS)
    .map(({ name, lag, activeTime }) => ({
      name,
      lag,
      activeTime,
      releaseTime: activeTime + IDLE_MS + NOTICE_MS,
    }))
}

/** Retention may remove entries up to here; what comes after, some consumer has not acknowledged yet. */
export function releasedThrough(consumers: readonly ConsumerState[], now: Instant): LogPosition {
  return consumers
    .filter((consumer) => holds(consumer) && idleMs(consumer, now) < IDLE_MS + NOTICE_MS)
    .reduce((lowest, { position }) => Math.min(lowest, position), Number.MAX_SAFE_INTEGER)
}

const holds = ({ lossy }: ConsumerState): boolean => !lossy

const idleMs = ({ connected, activeTime }: ConsumerState, now: Instant): number =>
  connected ? 0 : now - activeTime
