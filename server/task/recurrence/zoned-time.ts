import type { Instant } from '../instant.js'
import { zoneOffsets } from './zone-offsets.js'

/**
 * An instant as the clocks of a zone show it, with their offset from UTC.
 *
 * @example zonedTime(Date.parse('2027-03-14T07:30:00Z'), 'America/New_York') // '2027-03-14T03:30:00-04:00'
 */
export function zonedTime(instant: Instant, timeZone: string): string {
  const { offset } = zoneOffsets(timeZone).segmentAt(Math.floor(instant / 1_000))
  return wallText(instant + offset * 1_000) + offsetText(offset)
}

/**
 * The local time that does not exist, given the instant that it was moved to: what the clock would show had it not been put forward.
 *
 * @example missingLocalTime(Date.parse('2027-03-14T07:30:00Z'), 'America/New_York') // '2027-03-14T02:30:00'
 */
export function missingLocalTime(moved: Instant, timeZone: string): string {
  const { before } = zoneOffsets(timeZone).segmentAt(Math.floor(moved / 1_000))
  return wallText(moved + before * 1_000)
}

/** Milliseconds are shown only where there are any. */
const wallText = (wallMs: number): string => new Date(wallMs).toISOString().replace(/(\.000)?Z$/, '')

function offsetText(offset: number): string {
  const size = Math.abs(offset)
  const parts = [Math.floor(size / 3_600), Math.floor(size / 60) % 60, size % 60]
  const shown = parts[2] === 0 ? parts.slice(0, 2) : parts
  return (offset < 0 ? '-' : '+') + shown.map((part) => String(part).padStart(2, '0')).join(':')
}
