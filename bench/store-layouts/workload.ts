import { randomBytes } from 'node:crypto'

/** One task as it reaches the store: already checked and encoded. */
export interface BenchTask {
  readonly arrival: number
  readonly id: string
  readonly due: number
  readonly handler: number
  readonly hash: Buffer
  readonly spec: Buffer
}

export type IdKind = 'uuid7' | 'sequential' | 'random'

const START = 1_790_000_000_000
const HANDLERS = 12

/** Tasks in order of arrival, 40 a millisecond, each due when it is accepted. */
export class Workload {
  #arrival: number
  readonly #kind: IdKind
  readonly #hash = randomBytes(8)
  readonly #spec = randomBytes(150)

  constructor(kind: IdKind, firstArrival: number) {
    this.#kind = kind
    this.#arrival = firstArrival
  }

  batch(size: number): BenchTask[] {
    return Array.from({ length: size }, () => this.#next())
  }

  #next(): BenchTask {
    const arrival = this.#arrival++
    const due = START + Math.floor(arrival / 40)
    return {
      arrival,
      id: this.#id(arrival, due),
      due,
      handler: arrival % HANDLERS,
      hash: this.#hash,
      spec: this.#spec,
    }
  }

  #id(arrival: number, due: number): string {
    if (this.#kind === 'sequential') return `order-${String(arrival).padStart(10, '0')}`
    const hex = randomBytes(16).toString('hex')
    const time = due.toString(16).padStart(12, '0')
    const bare = this.#kind === 'uuid7' ? `${time}7${hex.slice(13)}` : hex
    return `${bare.slice(0, 8)}-${bare.slice(8, 12)}-${bare.slice(12, 16)}-${bare.slice(16, 20)}-${bare.slice(20)}`
  }
}
