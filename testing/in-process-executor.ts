import type { Clock, Timer } from '../server/clock.js'
import type {
  AttemptEnd,
  AttemptRequest,
  Executor,
  ExecutorEvents,
  Lane,
} from '../server/executor/executor.js'
import type { AttemptOutcome, StopStage } from '../server/task/outcome.js'

/** What an attempt may use of its executor. */
export interface InProcessContext {
  /** Aborts when the attempt is to stop. */
  readonly signal: AbortSignal
  /** Waits on the executor's clock. Rejects as soon as the attempt is to stop. */
  readonly sleep: (ms: number) => Promise<void>
}

/** Runs one attempt to its outcome. What it throws is a failure that may be retried. */
export type RunInProcess = (
  request: AttemptRequest,
  context: InProcessContext,
) => Promise<AttemptOutcome> | AttemptOutcome

export interface InProcessOptions {
  readonly clock: Clock
  readonly run: RunInProcess
  /** Default 2 threads and 256 shared slots, as on a machine of two cores. */
  readonly slots?: Readonly<Record<Lane, number>>
}

interface Running {
  readonly request: AttemptRequest
  readonly lane: Lane
  readonly controller: AbortController
  readonly startTimeUs: number
  /** Why it was told to stop. */
  stopped?: 'cancelled' | 'timedOut' | 'interrupted'
  timers: Timer[]
  /** Tells the outcome; only the first call counts. */
  end: (outcome: AttemptOutcome, lingering?: true) => void
}

/** Runs attempts in the process itself, on any clock: for tests on virtual time. Where the real one stops a thread by force, this one listens no more. */
export class InProcessExecutor implements Executor {
  readonly slots: Readonly<Record<Lane, number>>
  readonly #clock: Clock
  readonly #run: RunInProcess
  readonly #running = new Map<number, Running>()
  /** Seats of lane `thread` that are taken: a burst has one, as it would have one thread. */
  readonly #seats = new Set<number>()
  /** Members of bursts that have not begun. */
  readonly #waiting = new Set<number>()
  #events: ExecutorEvents | undefined
  #closed = false

  constructor({ clock, run, slots = { thread: 2, shared: 256 } }: InProcessOptions) {
    this.#clock = clock
    this.#run = run
    this.slots = slots
  }

  listen(events: ExecutorEvents): void {
    this.#events = events
  }

  start(lane: Lane, burst: readonly AttemptRequest[]): void {
    if (this.#closed) {
      queueMicrotask(() => this.#events?.returned(burst.map(({ startId }) => startId)))
      return
    }
    for (const { startId } of burst) this.#waiting.add(startId)
    void this.#runBurst(lane, burst)
  }

  stop(startId: number, graceMs: number): boolean {
    if (this.#waiting.delete(startId)) {
      const now = this.#clock.nowMicros()
      this.#events?.ended([
        {
          startId,
          outcome: { kind: 'cancelled', stage: 'neverStarted' },
          startTimeUs: 0,
          endTimeUs: now,
          workerId: '',
        },
      ])
      return true
    }
    const running = this.#running.get(startId)
    if (!running) return false
    this.#stop(running, 'cancelled', graceMs)
    return true
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    if (waiting.length > 0) this.#events?.returned(waiting)
    for (const running of this.#running.values()) {
      running.stopped = 'interrupted'
      running.controller.abort()
      running.end({ kind: 'interrupted', reason: 'the server stops' })
    }
  }

  async #runBurst(lane: Lane, burst: readonly AttemptRequest[]): Promise<void> {
    // the caller is told of nothing before its call has returned
    await Promise.resolve()
    const seat = this.#takeSeat(lane)
    for (const request of burst) {
      if (this.#waiting.delete(request.startId)) await this.#attempt(lane, request, `${lane}-${seat}`)
    }
    this.#seats.delete(seat)
  }

  #takeSeat(lane: Lane): number {
    // attempts of the other lane all run in one thread
    if (lane === 'shared') return 1
    let seat = 1
    while (this.#seats.has(seat)) seat++
    this.#seats.add(seat)
    return seat
  }

  #attempt(lane: Lane, request: AttemptRequest, workerId: string): Promise<void> {
    const { startId, timeoutMs } = request
    const startTimeUs = this.#clock.nowMicros()
    this.#events?.began([{ startId, startTimeUs, workerId }])
    return new Promise((resolve) => {
      const running: Running = {
        request,
        lane,
        controller: new AbortController(),
        startTimeUs,
        timers: [],
        end: (outcome, lingering) => {
          if (!this.#running.delete(startId)) return
          for (const timer of running.timers) timer.cancel()
          const end: AttemptEnd = {
            startId,
            outcome,
            startTimeUs,
            endTimeUs: this.#clock.nowMicros(),
            workerId,
          }
          this.#events?.ended([lingering ? { ...end, lingering } : end])
          resolve()
        },
      }
      this.#running.set(startId, running)
      if (timeoutMs > 0)
        running.timers.push(this.#clock.setTimer(timeoutMs, () => this.#stop(running, 'timedOut', 1_000)))
      void this.#call(running)
    })
  }

  async #call(running: Running): Promise<void> {
    const { signal } = running.controller
    const context: InProcessContext = { signal, sleep: (ms) => this.#sleep(ms, signal) }
    let outcome: AttemptOutcome
    try {
      outcome = await this.#run(running.request, context)
    } catch (error) {
      outcome = failed(error)
    }
    if (this.#running.has(running.request.startId))
      running.end(stoppedOutcome(running, 'cooperative') ?? outcome)
    else if (running.lane === 'shared' && !this.#closed) this.#events?.released([running.request.startId])
  }

  #stop(running: Running, why: 'cancelled' | 'timedOut', graceMs: number): void {
    if (running.stopped) return
    running.stopped = why
    running.controller.abort(new DOMException(why, why === 'timedOut' ? 'TimeoutError' : 'AbortError'))
    const force = (): void => {
      const outcome = stoppedOutcome(running, 'terminated')
      if (outcome) running.end(outcome, running.lane === 'shared' ? true : undefined)
    }
    running.timers.push(this.#clock.setTimer(graceMs, force))
  }

  #sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stopped = (): void => {
        timer.cancel()
        reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'))
      }
      const timer = this.#clock.setTimer(ms, () => {
        signal.removeEventListener('abort', stopped)
        resolve()
      })
      if (signal.aborted) stopped()
      else signal.addEventListener('abort', stopped, { once: true })
    })
  }
}

function stoppedOutcome({ stopped }: Running, stage: StopStage): AttemptOutcome | undefined {
  return stopped === 'cancelled' || stopped === 'timedOut' ? { kind: stopped, stage } : undefined
}

function failed(error: unknown): AttemptOutcome {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return {
    kind: 'failed',
    error: { code: 'HANDLER_ERROR', message, stack: '', name, cause: '' },
    retryable: true,
  }
}
