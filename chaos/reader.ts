import type { SchedulerClient, TaskResult } from '../client/index.js'

/** A consumer of all results, from before the first one on, across every death of the server. */
export class Reader {
  readonly results: TaskResult[] = []
  /** Tasks that have had their last result. */
  ended = 0
  readonly #client: SchedulerClient
  readonly #ending = new AbortController()
  #loop: Promise<void> | undefined
  /** Why it was turned away for good. */
  failure: Error | undefined

  constructor(client: SchedulerClient) {
    this.#client = client
  }

  start(): void {
    this.#loop = this.#read()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.#loop
  }

  async #read(): Promise<void> {
    const { signal } = this.#ending
    try {
      const stream = this.#client.results({ from: 'earliest', includeAttempts: true, signal })
      for await (const result of stream) {
        this.results.push(result)
        if (result.last) this.ended++
      }
    } catch (error) {
      if (!signal.aborted) this.failure = error as Error
    }
  }
}

/** Everything that the log holds now, read anew. */
export async function readAll(client: SchedulerClient): Promise<readonly TaskResult[]> {
  const results: TaskResult[] = []
  const stream = client.results({ from: 'earliest', includeAttempts: true, untilCaughtUp: true })
  for await (const result of stream) results.push(result)
  return results
}
