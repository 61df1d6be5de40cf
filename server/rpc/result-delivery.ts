import type { Clock } from '../clock.js'
import { anyAbort } from '../results/any-abort.js'
import type { ResultLog } from '../results/result-log.js'
import type { ResultReader } from '../results/result-reader.js'
import type { LogEntry, LogPosition } from '../store/task-store.js'
import { SchedulerError } from '../task/errors.js'
import type { ResponseStream } from './response-stream.js'
import { streamMessage } from './stream-messages.js'
import type { StreamWish } from './stream-request.js'

export interface DeliveryParts {
  readonly log: ResultLog
  readonly clock: Clock
  readonly stream: ResponseStream
  /** Aborted when the server stops. */
  readonly ending: AbortSignal
  /** Aborted when the stream must end at once; the reason is the error to end with. */
  readonly ousted?: AbortSignal
  /** Counts entries as they are sent. */
  readonly onSent: (count: number) => void
}

/** One stream of results, from its first message to its end, at the pace of its reader. */
export class ResultDelivery {
  readonly #parts: DeliveryParts
  readonly #wish: StreamWish
  readonly #reader: ResultReader
  /** What was in the log at the start of the call. */
  readonly #target: LogPosition
  #lastSentAt = 0
  #lastPosition = -1
  #lastCaughtUp = false

  constructor(parts: DeliveryParts, wish: StreamWish, position: LogPosition) {
    this.#parts = parts
    this.#wish = wish
    this.#reader = parts.log.reader(position, wish.filter)
    this.#target = parts.log.latest
  }

  /** Resolves when the stream shall end with OK, or when nobody reads any more. @throws SchedulerError DRAINING at shutdown; the reason of `ousted`. */
  async run(): Promise<void> {
    const { ending, ousted } = this.#parts
    const stopped = anyAbort(ending, ...(ousted ? [ousted] : []))
    try {
      await this.#deliver(stopped.signal)
    } finally {
      stopped.release()
    }
  }

  /** @param stopped - Aborted when `ending` or `ousted` is. */
  async #deliver(stopped: AbortSignal): Promise<void> {
    const { stream, ending, ousted } = this.#parts
    // at once, so that a caller knows that it is connected, and where it stands
    this.#send([])
    while (!stream.signal.aborted) {
      ousted?.throwIfAborted()
      if (this.#isDone()) return
      if (ending.aborted && (this.#reader.isCaughtUp || !stream.hasRoom)) {
        this.#sendLastCursor()
        throw stopping()
      }
      if (!stream.hasRoom) await stream.room(stopped)
      else if (this.#reader.isCaughtUp) await this.#waitForMore(stopped)
      else await this.#sendNext()
    }
  }

  #isDone(): boolean {
    if (!this.#wish.stopWhenCaughtUp || this.#reader.position < this.#target) return false
    this.#sendLastCursor()
    return true
  }

  /** What the filter left out at the end moves the cursor too. */
  #sendLastCursor(): void {
    if (this.#reader.position !== this.#lastPosition) this.#send([])
  }

  async #sendNext(): Promise<void> {
    const entries = await this.#reader.read()
    const arrived = this.#reader.isCaughtUp && !this.#lastCaughtUp
    // nothing for this filter: the cursor moves, and is told with the next heartbeat
    if (entries.length > 0 || arrived || this.#silentMs() >= this.#wish.heartbeatMs) this.#send(entries)
  }

  /** Until there is more; a heartbeat when that takes long. */
  async #waitForMore(stopped: AbortSignal): Promise<void> {
    const { clock, stream } = this.#parts
    const enough = anyAbort(stream.signal, stopped)
    const timer = clock.setTimer(Math.max(0, this.#wish.heartbeatMs - this.#silentMs()), enough.abort)
    await this.#reader.more(enough.signal)
    timer.cancel()
    enough.release()
    if (this.#reader.isCaughtUp && this.#silentMs() >= this.#wish.heartbeatMs) this.#send([])
  }

  #send(entries: readonly LogEntry[]): void {
    const { log, clock, stream, onSent } = this.#parts
    this.#lastPosition = this.#reader.position
    this.#lastCaughtUp = this.#reader.isCaughtUp
    const state = {
      cursor: log.cursor(this.#reader.position),
      caughtUp: this.#lastCaughtUp,
      logId: log.logId,
    }
    stream.write(streamMessage(entries, state, this.#wish.format))
    this.#lastSentAt = clock.steady()
    onSent(entries.length)
  }

  #silentMs(): number {
    return this.#parts.clock.steady() - this.#lastSentAt
  }
}

function stopping(): SchedulerError {
  return new SchedulerError('DRAINING', 'the server is stopping: go on after the last cursor', {}, 1_000)
}
