import { explainCronItem } from './cron-refusals.js'
import { quoted } from './recurrence-error.js'

/** One of the six fields: what it is called and which values it takes. */
export interface CronFieldKind {
  readonly name: string
  readonly min: number
  readonly max: number
  /** Upper-case names of values, from `min` on. */
  readonly names?: readonly string[]
}

/** The values that a field lets through, laid out for quick questions. */
export interface CronField {
  /** In increasing order, never empty. */
  readonly values: readonly number[]
  /** Begins with `*`: for days "not restricted", for minute and hour "follows real time". */
  readonly startsWithStar: boolean
  /** `next[v]` = the smallest value ≥ v, or −1. */
  readonly next: Int8Array
  /** `below[v]` = how many values are < v. */
  readonly below: Uint8Array
}

const ITEM = /^(?:(\*)|([0-9]+|[A-Za-z]{3})(?:-([0-9]+|[A-Za-z]{3}))?)(?:\/([0-9]+))?$/

/**
 * Reads one field: `*`, values, names, ranges, each with a step, in a list.
 *
 * @throws Error whose message says what is wrong and what to write instead.
 */
export function parseCronField(kind: CronFieldKind, text: string): CronField {
  const allowed = new Set<number>()
  for (const item of text.split(',')) {
    if (item === '') throw new Error(`${quoted(text)} has an empty item in its list: remove the stray comma`)
    for (const value of itemValues(kind, item)) allowed.add(value)
  }
  const values = [...allowed].toSorted((a, b) => a - b)
  const next = new Int8Array(kind.max + 2).fill(-1)
  const below = new Uint8Array(kind.max + 2)
  for (let v = kind.max; v >= 0; v--) next[v] = allowed.has(v) ? v : (next[v + 1] ?? -1)
  for (let v = 1; v < below.length; v++) below[v] = (below[v - 1] ?? 0) + (allowed.has(v - 1) ? 1 : 0)
  return { values, startsWithStar: text.startsWith('*'), next, below }
}

function* itemValues(kind: CronFieldKind, item: string): Generator<number> {
  const { name, min, max } = kind
  const match = ITEM.exec(item)
  if (!match) throw new Error(explainCronItem(kind, item))
  const [, star, first, last, stepText] = match
  let from = min
  let to = max
  if (star === undefined) {
    from = valueOf(kind, first ?? '', item)
    to = last === undefined ? from : valueOf(kind, last, item, from)
    if (from > to) {
      const wrapped = `${rangeText(from, max)},${rangeText(min, to)}`
      throw new Error(
        `the range ${quoted(item)} runs backwards: write ${wrapped} if it is meant to wrap around`,
      )
    }
  }
  const step = stepText === undefined ? 1 : Number(stepText)
  if (stepText !== undefined && star === undefined && last === undefined)
    throw new Error(
      `${quoted(item)} has a step without a range: write ${from}-${max}/${stepText.slice(0, 10)}, or */${stepText.slice(0, 10)}`,
    )
  if (step < 1) throw new Error(`the step of ${quoted(item)} is 0: a step is at least 1`)
  if (step > max - min + 1)
    throw new Error(
      `the step of ${quoted(item)} is longer than the ${name} field (${min}-${max}): at most ${max - min + 1}`,
    )
  // 7 is Sunday too, and Sunday is kept as 0
  for (let v = from; v <= to; v += step) yield isWeekday(kind) && v === 7 ? 0 : v
}

function valueOf(kind: CronFieldKind, text: string, item: string, rangeStart?: number): number {
  if (/^[0-9]/.test(text)) {
    const value = Number(text)
    const top = isWeekday(kind) ? 7 : kind.max
    if (value < kind.min || value > top)
      throw new Error(`${quoted(item)} is out of range: ${kind.name} is ${kind.min}-${top}`)
    return value
  }
  const index = kind.names?.indexOf(text.toUpperCase()) ?? -1
  if (index < 0) throw new Error(explainCronItem(kind, item))
  // FRI-SUN means to the end of the week
  if (isWeekday(kind) && index === 0 && rangeStart !== undefined && rangeStart > 0) return 7
  return index + kind.min
}

const rangeText = (from: number, to: number): string => (from === to ? `${from}` : `${from}-${to}`)

const isWeekday = (kind: CronFieldKind): boolean => kind.max === 6
