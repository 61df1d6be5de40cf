/**
 * Lets work of one kind have one piece for each turn of the event loop, first come, first served: between two pieces, what has come from outside is dealt with, whatever
 * the number of those who wait.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #underWay = 0

  /** Begins work at once when no other is under way, so that who is alone never waits; else when it is its turn. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1
    try {
      if (this.#underWay > 1) await this.next()
      return await work()
    } finally {
      this.#underWay -= 1
    }
  }

  /** Resolves when it is the caller's turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#waiting.length === 1) setImmediate(this.#resume)
    })
  }

  readonly #resume = (): void => {
    this.#waiting.shift()?.()
    if (this.#waiting.length > 0) setImmediate(this.#resume)
  }
}
