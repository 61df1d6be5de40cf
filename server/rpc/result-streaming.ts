import { setMaxListeners } from 'node:events'
import type { Clock } from '../clock.js'
import type { Consumers, ConsumerSeat } from '../results/consumers.js'
import type { ResultLog } from '../results/result-log.js'
import type { LogPosition } from '../store/task-store.js'
import { SchedulerError } from '../task/errors.js'
import type { ResponseStream } from './response-stream.js'
import { ResultDelivery } from './result-delivery.js'
import type { StreamWish } from './stream-request.js'

export interface ResultStreamingParts {
  readonly log: ResultLog
  readonly consumers: Pick<Consumers, 'take'>
  readonly clock: Clock
  /** More than these are refused. */
  readonly maxStreams: number
}

/** All open streams of results: how many, and their common end at shutdown. */
export class ResultStreaming {
  readonly #parts: ResultStreamingParts
  readonly #open = new Set<Promise<void>>()
  readonly #ending = new AbortController()
  #resultsSent = 0

  constructor(parts: ResultStreamingParts) {
    this.#parts = parts
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
   * @throws SchedulerError DRAINING at shutdown, after the last cursor; TOO_MANY_STREAMS; what a bad start cursor deserves; for a consumer also what {@link Consumers.take}
   * throws, and CONSUMER_TAKEN_OVER or CONSUMER_NOT_FOUND when it loses it.
   */
  async serve(wish: StreamWish, stream: ResponseStream): Promise<void> {
    const { maxStreams } = this.#parts
    if (this.#open.size >= maxStreams) throw tooMany(maxStreams)
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
    const { log, consumers } = this.#parts
    const { consumer, filter, start } = wish
    if (consumer === undefined) return this.#read(wish, stream, await log.positionOf(start))
    const seat = await consumers.take({ ...consumer, filter, start })
    try {
      await this.#read(wish, stream, seat.position, seat)
    } finally {
      seat.leave()
    }
  }

  #read(wish: StreamWish, stream: ResponseStream, after: LogPosition, seat?: ConsumerSeat): Promise<void> {
    const { log, clock } = this.#parts
    const parts = {
      log,
      clock,
      stream,
      ending: this.#ending.signal,
      ...(seat && { ousted: seat.ousted }),
      onSent: (count: number) => {
        this.#resultsSent += count
      },
    }
    return new ResultDelivery(parts, wish, after).run()
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
