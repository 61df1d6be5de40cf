/** What many values are like. The unit is that of the values. */
export interface Summary {
  readonly count: number
  readonly mean: number
  readonly median: number
  readonly min: number
  readonly max: number
  /** From 100 values on: of fewer, the 95th in a hundred is nobody in particular. */
  readonly p95?: number
  readonly p99?: number
}

const ENOUGH_FOR_PERCENTILES = 100

/** Sums up `values`; undefined when there are none. */
export function summarise(values: readonly number[]): Summary | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const [min, max] = [sorted[0], sorted.at(-1)]
  if (min === undefined || max === undefined) return undefined
  return {
    count: sorted.length,
    mean: sorted.reduce((total, value) => total + value, 0) / sorted.length,
    median: median(sorted),
    min,
    max,
    ...(sorted.length >= ENOUGH_FOR_PERCENTILES && {
      p95: percentile(sorted, 95),
      p99: percentile(sorted, 99),
    }),
  }
}

/** The middle one; of an even number, between the two in the middle. */
function median(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2
}

/** By nearest rank: the smallest value that at least `percent` of all do not exceed. */
function percentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.ceil((percent / 100) * sorted.length) - 1] ?? Number.NaN
}
