import type { Histogram } from '@opentelemetry/sdk-metrics'
import { DURATION_BUCKETS_S } from './metric-list.js'

/** How values are spread over {@link DURATION_BUCKETS_S}, with their number, sum and ends. The SDK counts the same way. */
export class Distribution {
  readonly #counts = [...DURATION_BUCKETS_S.map(() => 0), 0]
  #count = 0
  #sum = 0
  #min = Infinity
  #max = -Infinity

  get count(): number {
    return this.#count
  }

  /** A boundary belongs to the bucket below it. What is negative or no number is left out. */
  record(value: number): void {
    if (!(value >= 0)) return
    this.#count += 1
    this.#sum += value
    if (value < this.#min) this.#min = value
    if (value > this.#max) this.#max = value
    let bucket = 0
    while (value > (DURATION_BUCKETS_S[bucket] ?? Infinity)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
  }

  add(other: Distribution): void {
    this.#count += other.#count
    this.#sum += other.#sum
    this.#min = Math.min(this.#min, other.#min)
    this.#max = Math.max(this.#max, other.#max)
    for (const [bucket, count] of other.#counts.entries())
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count
  }

  clear(): void {
    this.#count = 0
    this.#sum = 0
    this.#min = Infinity
    this.#max = -Infinity
    this.#counts.fill(0)
  }

  /** As it is now, in the SDK's form. */
  value(): Histogram {
    return {
      min: this.#min,
      max: this.#max,
      sum: this.#sum,
      buckets: { boundaries: DURATION_BUCKETS_S, counts: [...this.#counts] },
      count: this.#count,
    }
  }
}
