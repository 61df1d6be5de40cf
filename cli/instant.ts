import { InvalidArgumentError } from 'commander'
import { DURATION_FORMS, parseDuration } from './duration.js'

const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(Z|[+-]\d{2}:?\d{2})?)?$/

/**
 * A point in time as people write it: ISO 8601, without a zone that of this machine. Finer than a millisecond is rounded up, so that nothing
 * is early.
 *
 * @throws InvalidArgumentError that says what would be right.
 * @example parseInstant('2027-03-13T12:00:00Z')
 */
export function parseInstant(text: string): Date {
  const parts = ISO.exec(text)
  const instant = parts && fromParts(parts)
  if (instant) return instant
  throw new InvalidArgumentError(
    `'${text}' is no time: say it as 2027-03-13T12:00:00Z, or without the Z for this machine's zone.`,
  )
}

/**
 * A point in time, or how long ago.
 *
 * @throws InvalidArgumentError that says what would be right.
 */
export function parsePast(text: string, now: number): Date {
  if (ISO.test(text)) return parseInstant(text)
  try {
    return new Date(now - parseDuration(text))
  } catch {
    throw new InvalidArgumentError(
      `'${text}' is neither a time such as 2027-03-13T12:00:00Z nor a duration (how long ago): ${DURATION_FORMS}.`,
    )
  }
}

function fromParts([, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone]: (
  | string
  | undefined
)[]): Date | undefined {
  const civil = `${year}-${month}-${day}T${hour}:${minute}:${second}`
  const asUtc = new Date(`${civil}Z`)
  // Date turns 30 February into 2 March
  if (Number.isNaN(asUtc.getTime()) || !asUtc.toISOString().startsWith(civil)) return undefined
  const offset =
    zone === undefined || zone === 'Z' || zone.includes(':') ? zone : `${zone.slice(0, 3)}:${zone.slice(3)}`
  const instant = new Date(`${civil}${offset ?? ''}`)
  if (Number.isNaN(instant.getTime())) return undefined
  const ms = Math.ceil(Number(`0.${fraction || '0'}`) * 1_000)
  return new Date(instant.getTime() + ms)
}
