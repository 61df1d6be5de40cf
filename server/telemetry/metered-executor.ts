import type { Clock } from '../clock.js'
import type { AttemptEnd, AttemptRequest, Executor, ExecutorEvents, Lane } from '../executor/executor.js'
import type { Metrics } from './metrics.js'

interface MeteredAttempt {
  readonly request: AttemptRequest
  readonly lane: Lane
  readonly handedOverUs: number
  began: boolean
}

/** An executor whose attempts are counted and timed. */
export class MeteredExecutor implements Executor {
  readonly #inner: Executor
  readonly #metrics: Metrics
  readonly #clock: Clock
  readonly #attempts = new Map<number, MeteredAttempt>()

  constructor(inner: Executor, metrics: Metrics, clock: Clock) {
    this.#inner = inner
    this.#metrics = metrics
    this.#clock = clock
  }

  get slots(): Executor['slots'] {
    return this.#inner.slots
  }

  listen(events: ExecutorEvents): void {
    this.#inner.listen({
      began: (starts) => {
        for (const { startId, startTimeUs } of starts) this.#began(startId, startTimeUs)
        events.began(starts)
      },
      ended: (ends) => {
        for (const end of ends) this.#ended(end)
        events.ended(ends)
      },
      returned: (startIds) => {
        for (const startId of startIds) this.#attempts.delete(startId)
        events.returned(startIds)
      },
      released: (startIds) => events.released(startIds),
      spans: (records) => events.spans?.(records),
    })
  }

  start(lane: Lane, burst: readonly AttemptRequest[]): void {
    const handedOverUs = this.#clock.nowMicros()
    for (const request of burst)
      this.#attempts.set(request.startId, { request, lane, handedOverUs, began: false })
    this.#inner.start(lane, burst)
  }

  stop(startId: number, graceMs: number): boolean {
    return this.#inner.stop(startId, graceMs)
  }

  async close(): Promise<void> {
    await this.#inner.close()
    this.#attempts.clear()
  }

  #began(startId: number, startTimeUs: number): void {
    const attempt = this.#attempts.get(startId)
    if (attempt === undefined) return
    attempt.began = true
    const { request, lane, handedOverUs } = attempt
    const waitMs = (startTimeUs - handedOverUs) / 1_000
    const lateMs = startTimeUs / 1_000 - request.dueTime
    this.#metrics.attemptBegan(request.handler, lane, request.attempt === 1 ? { waitMs, lateMs } : { waitMs })
  }

  #ended(end: AttemptEnd): void {
    const attempt = this.#attempts.get(end.startId)
    this.#attempts.delete(end.startId)
    const durationMs = attempt?.began ? (end.endTimeUs - end.startTimeUs) / 1_000 : undefined
    this.#metrics.attemptEnded(attempt?.request.handler ?? '', end.outcome.kind, durationMs)
  }
}
