import { AsyncLocalStorage } from 'node:async_hooks'
import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../clock.js'
import type { Log } from '../task/log.js'
import type { LoadedHandlers } from '../handlers/load-handlers.js'
import { AttemptContext, type ContextServices, type StopReason } from '../handlers/handler-context.js'
import type { AttemptLedger } from './attempt-ledger.js'
import { readBurst, type ThreadAttempt } from './burst-message.js'
import type { ThreadInstrumentation } from './instrument.js'
import { failure, failureOf } from './outcome-of.js'
import { type OwnOutcome, runAttempt } from './run-attempt.js'
import { sleepOn } from './sleep.js'
import { ThreadLog } from './thread-log.js'
import { type FromThread, LOOK, type StopMessage, type ToThread } from './thread-protocol.js'
import { ERROR_CODES } from '../task/outcome.js'
import type { SpanRecord } from '../task/span-record.js'

/** Handlers that take longer than this are told of as begun at once; shorter ones with their end. */
const SHORT_MS = 1

/** What a thread works on: it runs bursts, and answers for each attempt. */
export interface ThreadWorkParts {
  readonly port: MessagePort
  readonly ledger: AttemptLedger
  readonly handlers: LoadedHandlers
  readonly clock: Clock
  readonly maxOutputBytes: number
  readonly instrumentation: ThreadInstrumentation | undefined
}

/** An attempt that has begun in this thread. */
export interface LiveAttempt {
  readonly attempt: ThreadAttempt
  readonly context: AttemptContext<ThreadAttempt>
  /** Ends it with an outcome that is not its handler's own. Only while its handler is waited for. */
  fail: ((outcome: OwnOutcome) => void) | undefined
  ended: boolean
}

export class ThreadWork implements ContextServices<ThreadAttempt> {
  /** The attempt whose code is running, followed through whatever it awaits. */
  readonly current = new AsyncLocalStorage<LiveAttempt>()
  readonly log: ThreadLog
  readonly #parts: ThreadWorkParts
  readonly #waiting = new Map<number, LiveAttempt>()
  /** How long each handler took of late, in ms. */
  readonly #durations = new Map<string, number>()
  /** Attempts of which a note is on its way. */
  readonly #noted = new Set<number>()
  #tainted = false

  constructor(parts: ThreadWorkParts) {
    this.#parts = parts
    this.log = new ThreadLog(
      (line) => this.send(line),
      () => parts.clock.steady(),
    )
  }

  /** Whether a handler is waited for. */
  get isBusy(): boolean {
    return this.#waiting.size > 0
  }

  receive(message: ToThread): void {
    if (Array.isArray(message))
      this.#runBurst(readBurst(message)).catch((error: unknown) => this.taint(error))
    else this.#stop(message as StopMessage)
  }

  loggerFor({ startId, taskId, handler, run, attempt, traceparent }: ThreadAttempt): Log {
    return this.log.for({
      startId,
      taskId,
      handler,
      run,
      attempt,
      ...(traceparent === '' ? {} : { traceparent }),
    })
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return sleepOn(this.#parts.clock, ms, signal)
  }

  stopRequested({ row }: ThreadAttempt): StopReason | undefined {
    return this.#parts.ledger.stopReason(row)
  }

  send(message: FromThread): void {
    this.#parts.port.postMessage(message)
  }

  /** Tells what was traced. */
  sendSpans(spans: readonly SpanRecord[]): void {
    for (const span of spans) if (span.kind === 'note') this.#noted.add(span.startId)
    this.send({ kind: 'spans', spans })
  }

  /** Begins nothing more: something went wrong outside of any attempt, and may again. */
  taint(error: unknown): void {
    if (this.#tainted) return
    this.#tainted = true
    const { name, message } = failureOf(error).error
    this.send({ kind: 'tainted', why: `${name}: ${message}` })
  }

  async #runBurst(burst: readonly ThreadAttempt[]): Promise<void> {
    const { ledger, clock } = this.#parts
    let lookedAt = clock.steady()
    for (const attempt of burst) {
      if (this.#tainted) break
      if (!ledger.begin(attempt.row, attempt.generation, clock.nowMicros())) continue
      const began = clock.steady()
      // Unknown handlers may take long.
      if ((this.#durations.get(attempt.handler) ?? SHORT_MS) >= SHORT_MS) this.#askForLook()
      const outcome = this.#run(attempt)
      if (outcome instanceof Promise) {
        this.#askForLook()
        this.#end(attempt, await outcome)
      } else this.#end(attempt, outcome)
      const ended = clock.steady()
      this.#noteDuration(attempt.handler, ended - began)
      if (ended - lookedAt >= SHORT_MS) {
        this.#askForLook()
        lookedAt = ended
      }
    }
    this.#askForLook()
  }

  #run(attempt: ThreadAttempt): OwnOutcome | Promise<OwnOutcome> {
    const { handlers, ledger, maxOutputBytes, instrumentation } = this.#parts
    const handler = handlers.get(attempt.handler)
    if (handler === undefined)
      return failure(ERROR_CODES.handler, `this thread has no handler '${attempt.handler}'`)
    const live: LiveAttempt = {
      attempt,
      context: new AttemptContext(attempt, this),
      ended: false,
      fail: undefined,
    }
    ledger.inCall = attempt.row
    const outcome =
      instrumentation === undefined
        ? this.current.run(live, runAttempt, handler, attempt.payload, live.context, maxOutputBytes)
        : this.current.run(live, () =>
            instrumentation.around(attempt, () =>
              runAttempt(handler, attempt.payload, live.context, maxOutputBytes),
            ),
          )
    ledger.inCall = 0
    if (outcome instanceof Promise) return this.#wait(live, outcome)
    live.ended = true
    return outcome
  }

  /** Waits for the handler, or for whoever ends its attempt before. */
  #wait(live: LiveAttempt, own: Promise<OwnOutcome>): Promise<OwnOutcome> {
    const { startId } = live.attempt
    this.#waiting.set(startId, live)
    return new Promise((resolve) => {
      const end = (outcome: OwnOutcome) => {
        live.ended = true
        this.#waiting.delete(startId)
        resolve(outcome)
      }
      live.fail = end
      void own.then(end)
    })
  }

  #end({ row, startId }: ThreadAttempt, outcome: OwnOutcome): void {
    const { ledger, clock } = this.#parts
    const endTimeUs = clock.nowMicros()
    // A look at the ledger would overtake a note that is still on its way.
    const isNoted = this.#noted.delete(startId)
    if (!isNoted && outcome.kind === 'succeeded' && outcome.output.kind !== 'bytes') {
      const text = outcome.output.kind === 'json' ? outcome.output.text : undefined
      if (ledger.endHere(row, endTimeUs, text)) return
    }
    this.send({ kind: 'ended', startId, outcome })
    ledger.endByMessage(row, endTimeUs)
  }

  #stop({ startId }: StopMessage): void {
    const live = this.#waiting.get(startId)
    if (live !== undefined) live.context.stop(this.#parts.ledger.stopReason(live.attempt.row) ?? 'cancelled')
  }

  #askForLook(): void {
    if (this.#parts.ledger.askForLook()) this.send(LOOK)
  }

  #noteDuration(handler: string, ms: number): void {
    const before = this.#durations.get(handler)
    this.#durations.set(handler, before === undefined ? ms : before + (ms - before) / 8)
  }
}
