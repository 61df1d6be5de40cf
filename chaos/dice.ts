/** Random choices that are the same for the same seed. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Dice of their own for another part, so that what one part draws does not move the other. */
  split(part: number): Dice {
    return new Dice(Math.imul(this.#state ^ part, 0x9e3779b1))
  }

  /** In [0, 1). */
  next(): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let word = this.#state
    word = Math.imul(word ^ (word >>> 15), word | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number, both ends included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.int(0, items.length - 1)]
    if (item === undefined) throw new Error('there is nothing to pick from')
    return item
  }

  /** By weight. */
  draw<T>(items: readonly { readonly weight: number; readonly item: T }[]): T {
    let left = this.next() * items.reduce((sum, { weight }) => sum + weight, 0)
    for (const { weight, item } of items) {
      left -= weight
      if (left < 0) return item
    }
    throw new Error('nothing has a weight')
  }
}
