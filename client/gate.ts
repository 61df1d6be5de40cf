/** Lets only so many pieces of work run at once; the others wait in order. */
export class Gate {
  #free: number
  readonly #queue: (() => void)[] = []

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Runs `work` when there is room. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#queue.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#queue.shift()
      // the place is handed on, so that nobody who comes now takes it first
      if (next === undefined) this.#free++
      else next()
    }
  }
}
