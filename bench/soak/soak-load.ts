import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type SchedulerClient } from '../../client/index.js'
import type { Measured } from './sample.js'

/** Calls of one turn, and how long a turn lasts. */
const TURN_MS = 100
const SERIES = 20
const SLOW_READER_PAUSE_MS = 500

/** The same load all the time: tasks now and later, keyed and repeated, looked up and cancelled, read by a quick and by a slow consumer. */
export class SoakLoad implements AsyncDisposable {
  readonly #client: SchedulerClient
  readonly #slow: SchedulerClient
  readonly #ending = new AbortController()
  readonly #running: Promise<unknown>[] = []
  #measured: Measured = { latenessMs: [], scheduleMs: [] }
  #next = 1
  results = 0
  failures = 0

  constructor(address: string) {
    this.#client = createClient({ address })
    this.#slow = createClient({ address })
  }

  /** @param perSecond - Tasks. */
  async start(perSecond: number): Promise<void> {
    for (let i = 0; i < SERIES; i++) {
      await this.#client.schedule('echo', { n: i }, { recurrence: { everyMs: 500 + 25 * i } })
    }
    this.#running.push(this.#schedule(perSecond), this.#read(), this.#readSlowly())
  }

  /** What was measured since the last call. */
  take(): Measured {
    const measured = this.#measured
    this.#measured = { latenessMs: [], scheduleMs: [] }
    return measured
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort()
    await Promise.allSettled(this.#running)
    await Promise.all([this.#client.close(), this.#slow.close()])
  }

  async #schedule(perSecond: number): Promise<void> {
    const perTurn = Math.max(1, Math.round((perSecond * TURN_MS) / 1_000))
    let turn = performance.now()
    while (!this.#ending.signal.aborted) {
      for (let i = 0; i < perTurn; i++) void this.#one()
      turn += TURN_MS
      await sleep(Math.max(0, turn - performance.now()))
    }
  }

  async #one(): Promise<void> {
    const n = this.#next++
    const since = performance.now()
    try {
      const task = await this.#client.schedule('echo', { n, text: 'x'.repeat(200) }, optionsOf(n))
      this.#measured.scheduleMs.push(performance.now() - since)
      if (n % 10 === 0) await this.#client.get(task.id)
      if (n % 25 === 0) await task.cancel()
    } catch (error) {
      if ((error as Error).name !== 'TaskEndedError' && !this.#ending.signal.aborted) this.failures++
    }
  }

  async #read(): Promise<void> {
    const { signal } = this.#ending
    for await (const { latenessMs } of this.#client.results({ signal })) {
      this.results++
      if (latenessMs !== undefined) this.#measured.latenessMs.push(latenessMs)
    }
  }

  /** Reads a page now and then, and falls far behind: it must cost the server nothing. */
  async #readSlowly(): Promise<void> {
    const { signal } = this.#ending
    for await (const _ of this.#slow.results({ from: 'earliest', signal }).batches())
      await sleep(SLOW_READER_PAUSE_MS)
  }
}

function optionsOf(n: number) {
  if (n % 4 === 0) return { delayMs: 1_000 + (n % 9_000) }
  return n % 4 === 1 ? { concurrencyKey: `key ${n % 50}` } : {}
}
