/** How much of a difference a new value makes: quickly up, slowly down, so that a handler counts as slow as soon as it is. */
const UP = 0.5
const DOWN = 0.05
/** A thread spends this on an attempt however little the handler does. */
const LEAST_MS = 0.005

/** How long attempts of each handler take, measured: what bursts are cut by. */
export class HandlerWork {
  readonly #ms = new Map<string, number>()

  measure(handler: string, durationMs: number): void {
    const known = this.#ms.get(handler)
    const next =
      known === undefined ? durationMs : known + (durationMs - known) * (durationMs > known ? UP : DOWN)
    this.#ms.set(handler, Math.max(LEAST_MS, next))
  }

  /** Milliseconds that the next attempt will probably take; Infinity as long as none was measured. */
  estimate(handler: string): number {
    return this.#ms.get(handler) ?? Infinity
  }
}
