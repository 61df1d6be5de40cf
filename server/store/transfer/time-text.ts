import type { Instant } from '../../task/instant.js'

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.(\d{3}|\d{6})Z$/

/** `2026-12-01T10:00:00.000Z`. */
export const instantText = (instant: Instant): string => new Date(instant).toISOString()

/** Microseconds since 1970 as `2026-12-01T10:00:00.000250Z`. */
export function microsText(micros: number): string {
  const ms = Math.floor(micros / 1_000)
  return `${instantText(ms).slice(0, -1)}${String(micros - ms * 1_000).padStart(3, '0')}Z`
}

/**
 * Reads what `instantText` (`digits` 3) or `microsText` (6) wrote: ms or µs since 1970.
 *
 * @returns undefined when it is no such text.
 */
export function readTime(text: string, digits: 3 | 6): number | undefined {
  const fraction = TIME.exec(text)?.[1]
  if (fraction?.length !== digits) return undefined
  const ms = Date.parse(digits === 3 ? text : `${text.slice(0, -4)}Z`)
  if (Number.isNaN(ms) || ms < 0) return undefined
  const time = digits === 3 ? ms : ms * 1_000 + Number(fraction.slice(3))
  // the 31st of February would be read as one of March
  return text === (digits === 3 ? instantText(time) : microsText(time)) ? time : undefined
}
