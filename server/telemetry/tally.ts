import type { Attributes, ObservableResult } from '@opentelemetry/api'
import type { MetricInfo } from './metric-list.js'
import { SeriesMap } from './series-map.js'

/** The counts of one metric, told when they are asked for: adding here is a look-up, a counter of the SDK takes ten times as long. */
export class Tally {
  readonly #counts: SeriesMap<{ readonly attributes: Attributes; value: number }>

  constructor(metric: MetricInfo) {
    this.#counts = new SeriesMap(metric, (attributes) => ({ attributes, value: 0 }))
  }

  /** Adds `by` to the count under these values of the metric's attributes, in the order of the list. */
  add(by: number, first: string, second?: string): void {
    this.#counts.of(first, second).value += by
  }

  observe = (result: ObservableResult): void => {
    for (const { attributes, value } of this.#counts) result.observe(value, attributes)
  }
}
