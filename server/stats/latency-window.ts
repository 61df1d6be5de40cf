import { build, type Histogram } from 'hdr-histogram-js'

/** One value in a hundred may be off by 1 %: enough for people, and 70 kB instead of megabytes. */
const DIGITS = 2
/** 100 days in microseconds. */
const LARGEST_US = 8_640_000_000_000

const PERIODS = [
  { period: 'minute', sliceMs: 10_000, slices: 6 },
  { period: 'hour', sliceMs: 300_000, slices: 12 },
] as const

/** Percentiles over one period, in milliseconds. */
export interface LatencySummary {
  readonly period: 'minute' | 'hour' | 'start'
  readonly count: number
  readonly meanMs: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

interface Slice {
  number: number
  readonly histogram: Histogram
}

/** Durations of the last minute, of the last hour, and since the start. */
export class LatencyWindow {
  readonly #sinceStart = newHistogram()
  /** One slice more than the period has: the newest is not full yet. */
  readonly #rings = PERIODS.map(({ sliceMs, slices }) => ({
    sliceMs,
    slices: Array.from({ length: slices + 1 }, (): Slice => ({ number: -1, histogram: newHistogram() })),
  }))

  /** @param steadyMs - Now, on the steady clock. */
  record(micros: number, steadyMs: number): void {
    const value = Math.min(LARGEST_US, Math.max(0, Math.round(micros)))
    this.#sinceStart.recordValue(value)
    for (const { sliceMs, slices } of this.#rings) {
      const number = Math.floor(steadyMs / sliceMs)
      const slice = slices[number % slices.length]
      if (!slice) continue
      if (slice.number !== number) {
        slice.histogram.reset()
        slice.number = number
      }
      slice.histogram.recordValue(value)
    }
  }

  summaries(steadyMs: number): LatencySummary[] {
    const recent = this.#rings.map(({ sliceMs, slices }, index) => {
      const oldest = Math.floor(steadyMs / sliceMs) - slices.length + 1
      const merged = newHistogram()
      for (const slice of slices) if (slice.number >= oldest) merged.add(slice.histogram)
      return summaryOf(PERIODS[index]?.period ?? 'minute', merged)
    })
    return [...recent, summaryOf('start', this.#sinceStart)]
  }
}

function newHistogram(): Histogram {
  return build({ bitBucketSize: 32, autoResize: true, numberOfSignificantValueDigits: DIGITS })
}

function summaryOf(period: LatencySummary['period'], histogram: Histogram): LatencySummary {
  // the histogram names the upper edge of a value's bucket
  const at = (percentile: number): number =>
    Math.min(histogram.getValueAtPercentile(percentile), histogram.maxValue) / 1_000
  const count = histogram.totalCount
  if (count === 0) return { period, count, meanMs: 0, p50Ms: 0, p95Ms: 0, p99Ms: 0, maxMs: 0 }
  return {
    period,
    count,
    meanMs: histogram.mean / 1_000,
    p50Ms: at(50),
    p95Ms: at(95),
    p99Ms: at(99),
    maxMs: histogram.maxValue / 1_000,
  }
}
