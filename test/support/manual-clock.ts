import type { ClientClock } from '../../client/client-clock.js'

interface SetTimer {
  readonly at: number
  readonly delayMs: number
  readonly fn: () => void
}

/** A client's clock that a test moves. What waits for real input (a socket) says that it waits by setting a timer, so a test can wait for that. */
export class ManualClock implements ClientClock {
  #now = Date.UTC(2030, 0, 1)
  readonly #timers = new Set<SetTimer>()
  readonly #watchers: { readonly wanted: (delayMs: number) => boolean; readonly tell: () => void }[] = []

  now(): number {
    return this.#now
  }

  steady(): number {
    return this.#now
  }

  setTimer(delayMs: number, fn: () => void): { cancel(): void } {
    const timer = { at: this.#now + delayMs, delayMs, fn }
    this.#timers.add(timer)
    for (const watcher of this.#watchers.splice(0)) {
      if (watcher.wanted(delayMs)) watcher.tell()
      else this.#watchers.push(watcher)
    }
    return { cancel: () => this.#timers.delete(timer) }
  }

  /** Delays of the timers that are set, shortest first. */
  get delays(): readonly number[] {
    return [...this.#timers].map(({ delayMs }) => delayMs).toSorted((a, b) => a - b)
  }

  /** Time until the next timer. */
  get remaining(): number {
    return Math.min(...[...this.#timers].map(({ at }) => at - this.#now))
  }

  /** Resolves when a timer with such a delay is set, or at once if one is. */
  async timer(wanted: (delayMs: number) => boolean): Promise<void> {
    if (this.delays.some(wanted)) return
    await new Promise<void>((resolve) => this.#watchers.push({ wanted, tell: resolve }))
  }

  /** Moves time; timers fire in order. */
  advance(ms: number): void {
    const until = this.#now + ms
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.fn()
    }
    this.#now = until
  }
}
