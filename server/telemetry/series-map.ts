import type { Attributes } from '@opentelemetry/api'
import type { MetricInfo } from './metric-list.js'

/** What belongs to each set of values of a metric's attributes. Found by the values as they are: to join them to a key costs more than to count. */
export class SeriesMap<T> implements Iterable<T> {
  readonly #names: readonly string[]
  readonly #create: (attributes: Attributes) => T
  readonly #byFirst = new Map<string, Map<string, T>>()
  /** In the order in which they came. */
  readonly #all: T[] = []

  /** @param metric - Of at most two attributes: none has more. */
  constructor(metric: MetricInfo, create: (attributes: Attributes) => T) {
    this.#names = metric.attributes
    this.#create = create
  }

  /** By the values of the attributes, in the order of the list. */
  of(first: string, second = ''): T {
    return this.#byFirst.get(first)?.get(second) ?? this.#add(first, second)
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#all.values()
  }

  #add(first: string, second: string): T {
    const values = [first, second]
    const created = this.#create(Object.fromEntries(this.#names.map((name, index) => [name, values[index]])))
    const bySecond = this.#byFirst.get(first) ?? new Map<string, T>()
    this.#byFirst.set(first, bySecond.set(second, created))
    this.#all.push(created)
    return created
  }
}
