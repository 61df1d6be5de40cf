/** What several runs of one measurement said: the middle one counts, the outer ones tell how far it is to be trusted. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
  readonly runs: number
}

/** @throws RangeError when nothing was measured. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError('nothing was measured')
  const sorted = values.toSorted((a, b) => a - b)
  return {
    median: quantile(sorted, 0.5),
    least: quantile(sorted, 0),
    most: quantile(sorted, 1),
    runs: values.length,
  }
}

/** The value below which `share` of the values lie, interpolated. @param sorted - Ascending. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/** Ratios of runs that were made one beside the other: the noise of the machine falls out, as it would not from a ratio of two medians. */
export function ratioOf(values: readonly number[], references: readonly number[]): Spread {
  return spreadOf(values.map((value, i) => value / (references[i] ?? Number.NaN)))
}
