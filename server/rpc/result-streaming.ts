import { setMaxListeners } from 'node:events'
import type { Clock } from '../clock.js'
import type { ResultLog } from '../results/result-log.js'
import { SchedulerError } from '../task/errors.js'
import type { ResponseStream } from './response-stream.js'
import { ResultDelivery } from './result-delivery.js'
import type { StreamWish } from './stream-request.js'

/** All open streams of results: how many, and their common end at shutdown. */
export class ResultStreaming {
  readonly #log: ResultLog
  readonly #clock: Clock
  readonly #maxStreams: number
  readonly #open = new Set<Promise<void>>()
  readonly #ending = new AbortController()
  #resultsSent = 0

  constructor(log: ResultLog, clock: Clock, maxStreams: number) {
    this.#log = log
    this.#clock = clock
    this.#maxStreams = maxStreams
    // every stream listens to it
    setMaxListeners(0, this.#ending.signal)
  }

  /** Open streams. */
  get open(): number {
    return this.#open.size
  }

  /** Results and attempts sent since the start. */
  get resultsSent(): number {
    return this.#resultsSent
  }

  /**
   * Sends what a caller wishes for until it goes away; resolves when the stream shall end with OK.
   *
   * @throws SchedulerError DRAINING at shutdown, after the last cursor; TOO_MANY_STREAMS; what a bad start cursor deserves.
   */
  async serve(wish: StreamWish, stream: ResponseStream): Promise<void> {
    if (this.#open.size >= this.#maxStreams) throw tooMany(this.#maxStreams)
    const ended = this.#deliver(wish, stream)
    this.#open.add(ended)
    try {
      await ended
    } finally {
      this.#open.delete(ended)
    }
  }

  /** Ends every stream: what the log holds by now is sent first, to those who read; resolves when all have ended. */
  async end(): Promise<void> {
    this.#ending.abort()
    await Promise.allSettled(this.#open)
  }

  async #deliver(wish: StreamWish, stream: ResponseStream): Promise<void> {
    const position = await this.#log.positionOf(wish.start)
    const parts = {
      log: this.#log,
      clock: this.#clock,
      stream,
      ending: this.#ending.signal,
      onSent: (count: number) => {
        this.#resultsSent += count
      },
    }
    await new ResultDelivery(parts, wish, position).run()
  }
}

function tooMany(limit: number): SchedulerError {
  return new SchedulerError(
    'TOO_MANY_STREAMS',
    `at most ${limit} streams may be open (max_streams): close some, or share one`,
    { limit: String(limit) },
    1_000,
  )
}
