import { quantile } from '../measure/spread.js'
import { type Sample, SERIES, type SeriesName } from './sample.js'

/** The last third's median may be this much of the second third's. */
export const MAX_RATIO = 1.1

/** How one series went. */
export interface Flatness {
  readonly name: SeriesName
  readonly unit: string
  readonly second: number
  readonly last: number
  readonly ratio: number
  readonly isFlat: boolean
}

/** Holds the last third against the second: the first warms up. What is small may differ by a fixed amount: a tenth of a millisecond says nothing. */
export function flatness(samples: readonly Sample[]): readonly Flatness[] {
  const third = Math.floor(samples.length / 3)
  return SERIES.flatMap(({ name, unit, mayGrowBy }): Flatness[] => {
    const second = median(samples.slice(third, 2 * third), name)
    const last = median(samples.slice(2 * third), name)
    // a system without /proc does not tell
    if (Number.isNaN(second) || Number.isNaN(last)) return []
    const isFlat = last <= second * MAX_RATIO || last - second <= mayGrowBy
    return [{ name, unit, second, last, ratio: second === 0 ? 1 : last / second, isFlat }]
  })
}

function median(samples: readonly Sample[], name: SeriesName): number {
  const values = samples.map(({ values: all }) => all[name]).filter((value) => !Number.isNaN(value))
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  )
}
