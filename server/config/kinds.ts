import { z } from 'zod'

/*
 * What the value of a setting may be. Flags and the environment give text, a TOML file gives text, numbers, booleans and lists: each kind takes both, and says in its
 * message what would be right.
 */

const MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const BYTES: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
}

export interface Range {
  readonly min: number
  readonly max: number
}

/** Any text but an empty one. */
export const text = z.string({ error: 'must be text' }).min(1, 'must not be empty')

/** One text, several with commas, or a TOML list. */
export const list = z
  .union([z.string(), z.array(z.string())], { error: 'must be text, or a list of texts' })
  .transform((value) => (typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value))
  .refine((parts) => parts.every((part) => part !== ''), 'must not have an empty part')

/** `true` or `false`. */
export const yesNo = z
  .union([z.boolean(), z.enum(['true', 'false', '1', '0'])], { error: 'must be true or false' })
  .transform((value) => value === true || value === 'true' || value === '1')

/** One of some words. */
export function choice<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, { error: `must be one of: ${words.join(', ')}` })
}

/** A whole number. */
export function count({ min, max }: Range) {
  const message = `must be a whole number from ${spaced(min)} to ${spaced(max)}`
  return z
    .union(
      [
        z.number(),
        z
          .string()
          .regex(/^\d{1,15}$/, message)
          .transform(Number),
      ],
      { error: message },
    )
    .refine((value) => Number.isInteger(value) && value >= min && value <= max, message)
}

/** Milliseconds, from text such as `250ms`, `1.5s`, `2h30m`. A number without a unit is refused: whose unit would it be? */
export function duration({ min, max }: Range) {
  const message = `must be a time such as 250ms, 1.5s or 2h30m, from ${durationText(min)} to ${durationText(max)}`
  return z
    .string({ error: message })
    .transform((value) => sumOf(value, MS))
    .refine((ms) => ms >= min && ms <= max, message)
    .refine((ms) => ms === 0 || ms >= 1, 'must not be less than a millisecond, unless it is 0')
    .transform(Math.round)
}

/** Bytes, from a number or text such as `4MiB`, `500kB`. */
export function bytes({ min, max }: Range) {
  const message = `must be a size such as 65536, 500kB or 4MiB, from ${bytesText(min)} to ${bytesText(max)}`
  return z
    .union([z.number(), z.string()], { error: message })
    .transform((value) => (/^\d{1,15}$/.test(String(value)) ? Number(value) : sumOf(String(value), BYTES)))
    .refine((size) => Number.isSafeInteger(size) && size >= min && size <= max, message)
}

export interface Address {
  readonly host: string
  readonly port: number
}

/** `host:port`; IPv6 in brackets. */
export const address = z.string({ error: 'must be host:port' }).transform((value, context): Address => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(value)
  const port = Number(match?.[3])
  if (!match || port > 65_535) {
    context.addIssue('must be host:port, such as 127.0.0.1:50051 or [::1]:50051; port 0 = any free one')
    return z.NEVER
  }
  return { host: match[1] ?? match[2] ?? '', port }
})

/** Adds up parts such as 2h30m; NaN when it is nothing of the kind. */
function sumOf(value: string, units: Readonly<Record<string, number>>): number {
  const trimmed = value.trim()
  if (!/^(?:\d+(?:\.\d+)?[A-Za-z]+)+$/.test(trimmed)) return Number.NaN
  let sum = 0
  for (const [, number, unit = ''] of trimmed.matchAll(/(\d+(?:\.\d+)?)([A-Za-z]+)/g)) {
    sum += Number(number) * (units[unit] ?? Number.NaN)
  }
  return sum
}

export function durationText(ms: number): string {
  return shortest(ms, Object.entries(MS))
}

export function bytesText(size: number): string {
  return shortest(
    size,
    Object.entries(BYTES).filter(([unit]) => unit.endsWith('iB') || unit === 'B'),
  )
}

/** With the largest unit that leaves it whole. */
function shortest(value: number, units: readonly (readonly [string, number])[]): string {
  const fitting = units.filter(([, size]) => value >= size && value % size === 0)
  const [unit = units[0]?.[0] ?? '', size = 1] = fitting.toSorted((a, b) => b[1] - a[1])[0] ?? []
  return `${spaced(value / size)}${unit}`
}

const spaced = (value: number): string => value.toLocaleString('en-US')
