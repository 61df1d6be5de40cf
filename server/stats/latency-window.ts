// not the library's index: its encodings and WebAssembly are three dozen files more, at every start
import { constructorFromBucketSize } from 'hdr-histogram-js/dist/JsHistogramFactory.js'

const Histogram = constructorFromBucketSize(32)
type Histogram = InstanceType<typeof Histogram>

/** One value in a hundred may be off by 1 %: enough for people, and 70 kB instead of megabytes. */
const DIGITS = 2
/** 100 days in microseconds. */
const LARGEST_US = 8_640_000_000_000

/** What the last minute is made of. */
const SLICE_MS = 10_000
const SLICES = 6
/** What the last hour is made of, each of slices that are over. */
const LONG_SLICE_MS = 300_000
const LONG_SLICES = 12

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

/** Durations of the last minute, of the last hour, and since the start. A value is recorded once; what is over is added to the longer periods as a whole. */
export class LatencyWindow {
  readonly #sinceStart = newHistogram()
  readonly #minute = new Ring(SLICES)
  readonly #hour = new Ring(LONG_SLICES)
  #newest = -1

  /** @param steadyMs - Now, on the steady clock. */
  record(micros: number, steadyMs: number): void {
    const number = Math.floor(steadyMs / SLICE_MS)
    if (number !== this.#newest) this.#turnTo(number)
    this.#minute.at(number).recordValue(Math.min(LARGEST_US, Math.max(0, Math.round(micros))))
  }

  summaries(steadyMs: number): LatencySummary[] {
    const number = Math.floor(steadyMs / SLICE_MS)
    if (number !== this.#newest) this.#turnTo(number)
    const newest = this.#minute.at(number)
    const minute = this.#minute.since(number - SLICES)
    const hour = this.#hour.since(Math.floor(steadyMs / LONG_SLICE_MS) - LONG_SLICES)
    hour.add(newest)
    const all = newHistogram()
    all.add(this.#sinceStart)
    all.add(newest)
    return [summaryOf('minute', minute), summaryOf('hour', hour), summaryOf('start', all)]
  }

  /** A new slice begins: the one before is over. */
  #turnTo(number: number): void {
    if (this.#newest >= 0) {
      const over = this.#minute.at(this.#newest)
      this.#sinceStart.add(over)
      this.#hour.at(Math.floor((this.#newest * SLICE_MS) / LONG_SLICE_MS)).add(over)
    }
    this.#newest = number
  }
}

/** The newest slices of time, one more than a period has: the newest is not full yet. */
class Ring {
  readonly #slices: { number: number; readonly histogram: Histogram }[]

  constructor(slices: number) {
    this.#slices = Array.from({ length: slices + 1 }, () => ({ number: -1, histogram: newHistogram() }))
  }

  /** The slice of that number; empty if it was another's before. */
  at(number: number): Histogram {
    const slice = this.#slices[number % this.#slices.length]
    if (!slice) throw new RangeError(`${number} is no number of a slice`)
    if (slice.number !== number) {
      slice.histogram.reset()
      slice.number = number
    }
    return slice.histogram
  }

  /** All from that number on, together. */
  since(oldest: number): Histogram {
    const merged = newHistogram()
    for (const { number, histogram } of this.#slices) if (number >= oldest) merged.add(histogram)
    return merged
  }
}

function newHistogram(): Histogram {
  const histogram = new Histogram(1, 2, DIGITS)
  histogram.autoResize = true
  return histogram
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
