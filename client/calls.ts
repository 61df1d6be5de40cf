import {
  type AckResultsRequest,
  SchedulerServiceService as service,
  type WaitForResultRequest,
} from '../proto/generated/punctual/v1/scheduler_service.js'
import { OutputFormat } from '../proto/generated/punctual/v1/result.js'
import { type CallScope, CallScopes } from './call-scope.js'
import type { Connection, UnaryMethod } from './connection.js'
import { ClientClosedError, DeadlineExceededError, type PunctualError, wasNotDone } from './errors.js'
import type { WaitCalls } from './known-task-result.js'
import { type CallOptions, checkDeadline, type CompleteOptions, type WaitOptions } from './options.js'
import { type RetryRules, retrying } from './retrying.js'

/** How long `close()` waits for calls that have been sent: so that what was asked for before it is done. */
const CLOSE_MS = 5_000

/** Leaving a loop waits for the last acknowledgement, but not for long: what is not acknowledged comes again. */
const ACKNOWLEDGE_MS = 5_000

/** How much longer than the server holds a question open the client waits for its answer. */
const ANSWER_MS = 10_000

/** What one client has under way: calls with a deadline, and waits and streams without one. */
export class Calls {
  /** Calls with a deadline: `close()` lets them finish. */
  readonly unary = new CallScopes()
  /** Waits and streams: `close()` ends them. */
  readonly waits = new CallScopes()
  readonly #connection: Connection
  readonly #options: CompleteOptions
  #closing: Promise<void> | undefined

  constructor(connection: Connection, options: CompleteOptions) {
    this.#connection = connection
    this.#options = options
  }

  /** When failed calls are tried again. */
  readonly rules = (): RetryRules => {
    const { clock, random, retry } = this.#options
    return { clock, random, mayRetry: () => retry && this.#closing === undefined }
  }

  /** The deadline of a call, checked. */
  deadlineOf({ deadlineMs }: CallOptions): number {
    return deadlineMs === undefined ? this.#options.deadlineMs : checkDeadline(deadlineMs, 'deadlineMs')
  }

  /**
   * A call of one request and one answer, tried until its deadline.
   *
   * @param repeatable - False: it is tried again only when the server itself said that it was not done.
   */
  async call<Request, Response>(
    method: UnaryMethod<Request, Response>,
    request: Request,
    options: CallOptions = {},
    repeatable = true,
  ): Promise<Response> {
    const deadlineMs = this.deadlineOf(options)
    const rules = this.rules()
    const mayRetry = (error: PunctualError): boolean =>
      rules.mayRetry(error) && (repeatable || wasNotDone(error))
    return this.unary.run(options.signal, (scope) => {
      const tryOnce = (ms: number): Promise<Response> => this.#connection.call(method, request, ms, scope)
      return retrying(tryOnce, deadlineMs, scope, { ...rules, mayRetry })
    })
  }

  /** A wait without a deadline, unless it asks for one. */
  wait<T>({ timeoutMs, signal }: WaitOptions, work: (scope: CallScope) => Promise<T>): Promise<T> {
    const limitMs = timeoutMs === undefined ? undefined : checkDeadline(timeoutMs, 'timeoutMs')
    return this.waits.run(signal, async (scope) => {
      const end = (): void =>
        scope.end(new DeadlineExceededError({ message: `no result within ${limitMs} ms; the task goes on` }))
      const timer = limitMs === undefined ? undefined : this.#options.clock.setTimer(limitMs, end)
      try {
        return await work(scope)
      } finally {
        timer?.cancel()
      }
    })
  }

  /** Single tries, for waits that have a patience of their own. */
  readonly tries: WaitCalls = {
    getTask: (id, scope) => {
      const request = { id, outputFormat: OutputFormat.JSON }
      return this.#connection.call(service.getTask, request, this.#options.deadlineMs, scope)
    },
    waitForResult: (request: WaitForResultRequest, scope) => {
      const heldMs = Number(request.wait?.seconds ?? 0n) * 1_000
      return this.#connection.call(service.waitForResult, request, heldMs + ANSWER_MS, scope)
    },
  }

  /** Moves the position of a durable consumer. */
  async acknowledge(request: AckResultsRequest): Promise<void> {
    const deadlineMs = Math.min(ACKNOWLEDGE_MS, this.#options.deadlineMs)
    await this.call(service.ackResults, request, { deadlineMs })
  }

  /** Ends waits and streams, lets calls finish, then lets go of the connection. Every call of it is the same close. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const closed = new ClientClosedError()
    this.unary.refuse(closed)
    this.waits.endAll(closed)
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.setTimer(CLOSE_MS, resolve)
      this.unary.whenIdle(() => {
        timer.cancel()
        resolve()
      })
    })
    this.unary.endAll(closed)
    this.#connection.close()
  }
}
