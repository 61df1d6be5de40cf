import type { Duration } from '../proto/generated/google/protobuf/duration.js'
import type { Timestamp } from '../proto/generated/google/protobuf/timestamp.js'

const MS_PER_SECOND = 1_000
const NANOS_PER_MS = 1_000_000

/**
 * A Date as the wire has it.
 *
 * @param option - What the caller called it, for the error.
 * @throws RangeError when the date is invalid.
 */
export function toTimestamp(date: Date, option: string): Timestamp {
  const ms = date.getTime()
  if (Number.isNaN(ms)) throw new RangeError(`${option} is an invalid Date: check the text it was made from`)
  // nanos count forward in time, also before 1970
  const seconds = Math.floor(ms / MS_PER_SECOND)
  return { seconds: BigInt(seconds), nanos: (ms - seconds * MS_PER_SECOND) * NANOS_PER_MS }
}

/** Milliseconds since 1970 with a fraction down to the microsecond; a Date would cut it. */
export function toMillis(time: Timestamp): number {
  return Number(time.seconds) * MS_PER_SECOND + Math.floor(time.nanos / 1_000) / 1_000
}

/** A Date, whole milliseconds, or nothing for nothing. */
export function toDate(time: Timestamp): Date
export function toDate(time: Timestamp | undefined): Date | undefined
export function toDate(time: Timestamp | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(Math.floor(toMillis(time)))
}

/**
 * A span of time as the wire has it.
 *
 * @param option - What the caller called it, for the error.
 * @throws RangeError when it is negative, infinite or not a number.
 */
export function toDuration(ms: number, option: string): Duration {
  if (!(ms >= 0 && Number.isFinite(ms))) {
    throw new RangeError(`${option} must be 0 or more and finite (milliseconds), got ${ms}`)
  }
  const seconds = Math.floor(ms / MS_PER_SECOND)
  return { seconds: BigInt(seconds), nanos: Math.round((ms - seconds * MS_PER_SECOND) * NANOS_PER_MS) }
}

/** Milliseconds, or nothing for nothing. */
export function durationMs(duration: Duration | undefined): number | undefined {
  return duration === undefined
    ? undefined
    : Number(duration.seconds) * MS_PER_SECOND + duration.nanos / NANOS_PER_MS
}
