import { isWorthResuming, PunctualError } from './errors.js'

/**
 * Acknowledgements of one durable consumer: one call at a time, always for the newest cursor, while the loop goes on. A server that is away
 * for a while does not end the loop: the next acknowledgement covers this one. A failure that will stay is thrown where the loop next asks.
 */
export class ConsumerAcks {
  readonly #send: (cursor: string) => Promise<void>
  #wanted: string | undefined
  #acknowledged: string | undefined
  #sending: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined

  /** @param send - Acknowledges a cursor at the server, with retries. */
  constructor(send: (cursor: string) => Promise<void>) {
    this.#send = send
  }

  /** Everything up to this cursor is finished. */
  finished(cursor: string): void {
    if (cursor === '' || cursor === this.#wanted) return
    this.#wanted = cursor
    this.#sending ??= this.#drain()
  }

  /** Throws what went wrong since it was last asked, unless a later try may succeed. */
  throwIfFailed(): void {
    const failure = this.#failure
    if (failure !== undefined && !mayPass(failure.error)) throw failure.error
  }

  /** Resolves when everything finished so far is acknowledged; rejects when that failed. */
  async flush(): Promise<void> {
    this.#failure = undefined
    if (this.#wanted !== this.#acknowledged) this.#sending ??= this.#drain()
    await this.#sending
    const failure = this.#failure as { readonly error: unknown } | undefined
    if (failure !== undefined) throw failure.error
  }

  async #drain(): Promise<void> {
    try {
      while (this.#wanted !== undefined && this.#wanted !== this.#acknowledged) {
        const cursor = this.#wanted
        await this.#send(cursor)
        this.#acknowledged = cursor
      }
    } catch (error) {
      this.#failure = { error }
    } finally {
      this.#sending = undefined
    }
  }
}

const mayPass = (error: unknown): boolean => error instanceof PunctualError && isWorthResuming(error)
