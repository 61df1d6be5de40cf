import { createRequire } from 'node:module'
import type * as OpenTelemetry from '@opentelemetry/api'
import type { Span } from '@opentelemetry/api'
import type { Instant } from '../task/instant.js'
import type { Log } from '../task/log.js'
import type { Labels } from '../task/task-spec.js'

/** What a handler gets beside its input. */
export interface HandlerContext {
  /**
   * Aborts when the attempt is to stop: `reason.name` is 'AbortError' (cancelled, server stops) or 'TimeoutError'. Give it to fetch and friends. A loop that
   * never awaits may ask `signal.aborted`. A handler that does not stop within the grace is stopped by force (lane `thread`) or given up (lane `shared`).
   */
  readonly signal: AbortSignal
  readonly taskId: string
  /** The run of the task, from 1. */
  readonly run: number
  /** The attempt of this run, from 1. */
  readonly attempt: number
  /** The same for every attempt of a run, unique among runs: what a payment or mail service wants, to do the work once. */
  readonly idempotencyKey: string
  /** When the run was due. */
  readonly dueTime: Date
  readonly labels: Labels
  /** Writes into the server's log, with task and trace. Bounded: a flood is cut, and says so. */
  readonly logger: Log
  /** The span of this attempt; one that records nothing when the task is not traced. */
  readonly span: Span
  /**
   * Waits. Rejects with `signal.reason` as soon as the attempt is to stop.
   *
   * @param ms - Milliseconds, 0 or more.
   */
  sleep(ms: number): Promise<void>
}

/** Why an attempt is told to stop. */
export type StopReason = 'cancelled' | 'timedOut' | 'serverStops'

/** The facts of an attempt that its handler may see. */
export interface AttemptFacts {
  readonly taskId: string
  readonly run: number
  readonly attempt: number
  readonly dueTime: Instant
  readonly labels: Labels
}

/** What an executor lends to the contexts of its attempts. One object for all of them: a short attempt shall not pay for what it never asks for. */
export interface ContextServices<Facts extends AttemptFacts> {
  loggerFor(attempt: Facts): Log
  /** Resolves after `ms`, not before; clears up when `signal` aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  /** Asked whenever a handler reads `signal.aborted`, so that a loop which never awaits hears of a stop too. */
  stopRequested?(attempt: Facts): StopReason | undefined
}

const STOP_TEXT: Record<StopReason, readonly [message: string, name: string]> = {
  cancelled: ['the task was cancelled', 'AbortError'],
  timedOut: ['the attempt took longer than its attempt_timeout', 'TimeoutError'],
  serverStops: ['the server stops', 'AbortError'],
}

/** The context of one attempt. What most handlers never ask for is made when asked for. */
export class AttemptContext<Facts extends AttemptFacts = AttemptFacts> implements HandlerContext {
  readonly #facts: Facts
  readonly #services: ContextServices<Facts>
  #logger: Log | undefined
  #controller: AbortController | undefined
  #stopped: StopReason | undefined

  constructor(facts: Facts, services: ContextServices<Facts>) {
    this.#facts = facts
    this.#services = services
  }

  get taskId(): string {
    return this.#facts.taskId
  }

  get run(): number {
    return this.#facts.run
  }

  get attempt(): number {
    return this.#facts.attempt
  }

  get labels(): Labels {
    return this.#facts.labels
  }

  get logger(): Log {
    this.#logger ??= this.#services.loggerFor(this.#facts)
    return this.#logger
  }

  get idempotencyKey(): string {
    return `${this.taskId}/${this.run}`
  }

  get dueTime(): Date {
    return new Date(this.#facts.dueTime)
  }

  get span(): Span {
    const { INVALID_SPAN_CONTEXT, trace } = openTelemetry()
    return trace.getActiveSpan() ?? trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      this.#hearStopsInLoops(this.#controller.signal)
      if (this.#stopped !== undefined) this.stop(this.#stopped)
    }
    return this.#controller.signal
  }

  async sleep(ms: number): Promise<void> {
    if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY))
      throw new RangeError(`sleep: ms must be a finite number of 0 or more, got ${ms}`)
    this.signal.throwIfAborted()
    await this.#services.sleep(ms, this.signal)
    this.signal.throwIfAborted()
  }

  /** Tells the handler to stop. */
  stop(reason: StopReason): void {
    this.#stopped = reason
    const [message, name] = STOP_TEXT[reason]
    this.#controller?.abort(new DOMException(message, name))
  }

  // An AbortSignal learns of a stop from a message, which a loop that never awaits does not let in.
  #hearStopsInLoops(signal: AbortSignal): void {
    if (this.#services.stopRequested === undefined) return
    const look = (): boolean => {
      const reason = this.#stopped ?? this.#services.stopRequested?.(this.#facts)
      if (reason !== undefined && this.#stopped === undefined) this.stop(reason)
      return Reflect.get(AbortSignal.prototype, 'aborted', signal)
    }
    Object.defineProperty(signal, 'aborted', { get: look, configurable: true })
    Object.defineProperty(signal, 'throwIfAborted', {
      value: () => {
        if (look()) throw signal.reason
      },
      configurable: true,
    })
  }
}

type Api = typeof OpenTelemetry
let api: Api | undefined

/** Its four dozen files are read when a handler wants its span: each thread would read them at its start. */
function openTelemetry(): Api {
  api ??= createRequire(import.meta.url)('@opentelemetry/api') as Api
  return api
}
