/** Something that gets ready some time. */
interface Readying {
  readonly isReady: boolean
}

/** Those who wait until everything is ready. */
export class ReadyWaits {
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = []
  #failure: Error | undefined

  /** Resolves when all of `things` are ready; rejects when one has failed, before or after. */
  wait(things: Iterable<Readying>): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
      this.look(things)
    })
  }

  /** To be called when one got ready. */
  look(things: Iterable<Readying>): void {
    this.#failure = undefined
    for (const { isReady } of things) if (!isReady) return
    for (const { resolve } of this.#waiting.splice(0)) resolve()
  }

  fail(error: Error): void {
    this.#failure = error
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
