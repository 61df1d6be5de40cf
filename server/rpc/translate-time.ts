import type { Instant } from '../task/instant.js'
import type { Violation } from '../task/errors.js'
import type { Duration } from '../../proto/generated/google/protobuf/duration.js'
import type { Timestamp } from '../../proto/generated/google/protobuf/timestamp.js'

const MIN_SECONDS = -62_135_596_800n
const MAX_SECONDS = 253_402_300_799n
const MAX_DURATION_SECONDS = 315_576_000_000n
const NANOS = 1_000_000_000
const NANOS_A_MS = 1_000_000

/** What becomes of parts of a millisecond: a due time is never early, an end never late, and a rhythm never inexact. */
export type Finer = 'up' | 'down' | 'refused'

/** @returns undefined, and one violation more, when it is no valid Timestamp. */
export function toInstant(
  { seconds, nanos }: Timestamp,
  field: string,
  found: Violation[],
  finer: Finer = 'up',
): Instant | undefined {
  if (seconds < MIN_SECONDS || seconds > MAX_SECONDS || nanos < 0 || nanos >= NANOS) {
    const description = 'must be a Timestamp from the year 1 to 9999, its nanos from 0 to 999,999,999'
    found.push({ field, description })
    return undefined
  }
  const instant = Number(seconds) * 1_000 + wholeMs(nanos, field, found, finer)
  // rounded up out of the year 9999
  return Math.min(instant, Number(MAX_SECONDS) * 1_000 + 999)
}

/** @returns undefined, and one violation more, when it is no valid Duration or negative. */
export function toMs(
  { seconds, nanos }: Duration,
  field: string,
  found: Violation[],
  finer: Finer = 'up',
): number | undefined {
  const mixed = (seconds > 0n && nanos < 0) || (seconds < 0n && nanos > 0)
  if (
    seconds > MAX_DURATION_SECONDS ||
    seconds < -MAX_DURATION_SECONDS ||
    Math.abs(nanos) >= NANOS ||
    mixed
  ) {
    const description =
      'must be a Duration of at most 315,576,000,000 s, its nanos below 1,000,000,000 and of the sign of its seconds'
    found.push({ field, description })
    return undefined
  }
  if (seconds < 0n || nanos < 0) {
    found.push({ field, description: 'must not be negative' })
    return undefined
  }
  return Number(seconds) * 1_000 + wholeMs(nanos, field, found, finer)
}

function wholeMs(nanos: number, field: string, found: Violation[], finer: Finer): number {
  const ms = nanos / NANOS_A_MS
  if (finer === 'refused' && !Number.isInteger(ms)) {
    found.push({ field, description: 'must be whole milliseconds' })
  }
  return finer === 'down' ? Math.floor(ms) : Math.ceil(ms)
}

export function fromInstant(instant: Instant): Timestamp {
  const seconds = Math.floor(instant / 1_000)
  return { seconds: BigInt(seconds), nanos: (instant - seconds * 1_000) * NANOS_A_MS }
}

export function fromMicros(micros: number): Timestamp {
  const seconds = Math.floor(micros / 1_000_000)
  return { seconds: BigInt(seconds), nanos: (micros - seconds * 1_000_000) * 1_000 }
}

export function fromMs(ms: number): Duration {
  const seconds = Math.floor(ms / 1_000)
  return { seconds: BigInt(seconds), nanos: (ms - seconds * 1_000) * NANOS_A_MS }
}
