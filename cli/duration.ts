import { InvalidArgumentError } from 'commander'

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}

const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/y
const ISO =
  /^P(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/
const ISO_UNITS = ['w', 'd', 'h', 'm', 's']

/** What people may write. */
export const DURATION_FORMS = '250ms, 5s, 1.5s, 2h30m, 1d, or ISO 8601 such as PT2H30M'

/**
 * A span of time as people write it, in milliseconds. Never guesses: what is not understood is an error, not zero.
 *
 * @throws InvalidArgumentError that says what would be right; the command ends with the exit code for usage.
 * @example parseDuration('2h30m') // 9_000_000
 */
export function parseDuration(text: string): number {
  const ms = text.startsWith('P') ? isoMs(text) : partsMs(text)
  if (ms === undefined) throw new InvalidArgumentError(complaint(text))
  // 0.1 + 0.2 leaves dust; half a millisecond is no time that anything here can keep
  const whole = Math.round(ms)
  if (whole === 0 && ms > 0) throw new InvalidArgumentError(`'${text}' is less than a millisecond.`)
  return whole
}

function partsMs(text: string): number | undefined {
  let total = 0
  let position = 0
  let lastUnit = Number.POSITIVE_INFINITY
  while (position < text.length) {
    PART.lastIndex = position
    const [found, amount, unit] = PART.exec(text) ?? []
    const unitMs = UNIT_MS[unit ?? '']
    // from large to small, each once: 5s2h is a slip of the fingers
    if (found === undefined || unitMs === undefined || unitMs >= lastUnit) return undefined
    total += Number(amount) * unitMs
    lastUnit = unitMs
    position += found.length
  }
  return position === 0 ? undefined : total
}

function isoMs(text: string): number | undefined {
  const found = ISO.exec(text)
  const parts = found?.slice(1)
  if (parts === undefined || parts.every((part) => part === undefined) || text.endsWith('T')) return undefined
  return parts.reduce(
    (total, part, index) => total + Number(part ?? 0) * (UNIT_MS[ISO_UNITS[index] ?? ''] ?? 0),
    0,
  )
}

function complaint(text: string): string {
  if (/^\d+(\.\d+)?$/.test(text))
    return `'${text}' has no unit: say ${text}s, ${text}ms, ${text}m or ${text}h.`
  if (/^P.*[YM]/.test(text) && !/T.*M/.test(text)) {
    return 'years and months have no fixed length: say it in days or weeks.'
  }
  return `'${text}' is no duration: say ${DURATION_FORMS}.`
}
