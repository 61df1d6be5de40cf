import type { SchedulerClient, TaskResult } from 'punctual'

/** A durable consumer that keeps everything: what retention has removed at the end is still known here. */
export class Archive {
  readonly entries: TaskResult[] = []
  readonly #stop = new AbortController()
  readonly #reading: Promise<void>

  constructor(client: SchedulerClient) {
    this.#reading = this.#read(client)
    // told by `end`
    this.#reading.catch(() => {})
  }

  /** When it holds so many entries. @throws what its loop was ended by. */
  async end(count: number): Promise<void> {
    while (this.entries.length < count)
      await Promise.race([this.#reading, new Promise((go) => setTimeout(go, 50))])
    this.#stop.abort()
    await this.#reading
  }

  async #read(client: SchedulerClient): Promise<void> {
    const { signal } = this.#stop
    const options = { consumer: 'archive', from: 'earliest', includeAttempts: true, signal } as const
    try {
      for await (const result of client.results(options)) this.entries.push(result)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}
