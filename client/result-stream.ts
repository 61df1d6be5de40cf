import {
  Position,
  type StreamResultsRequest,
  type StreamResultsResponse,
} from '../proto/generated/punctual/v1/scheduler_service.js'
import type { ResultFilter as FilterMessage } from '../proto/generated/punctual/v1/result.js'
import type { CallScope, CallScopes } from './call-scope.js'
import { ConsumerAcks } from './consumer-acks.js'
import { PunctualError } from './errors.js'
import { type MessageSource, resultMessages } from './result-messages.js'
import { fromOutcome, toOutcome } from './task-info.js'
import { type ResultOutcome, toTaskResult } from './task-result.js'
import { toTimestamp } from './wire-time.js'

/** Which results to read. Fields are combined with AND, values of one field with OR. */
export interface ResultFilter<Name extends string = string> {
  readonly taskIds?: readonly string[]
  readonly handlers?: readonly Name[]
  /** Every one of these labels must have this value. */
  readonly labels?: Readonly<Record<string, string>>
  readonly outcomes?: readonly ResultOutcome[]
  /** Who scheduled the task: `client.origin` of a client object. */
  readonly origins?: readonly string[]
}

/** Options of `client.results()`. */
export interface ResultOptions<Name extends string = string> {
  readonly filter?: ResultFilter<Name>
  /** After this cursor of an earlier stream: nothing skipped, nothing twice. */
  readonly after?: string
  /** From the first result committed at this time or later. */
  readonly since?: Date
  /** The oldest kept result, or (default) only what comes from now on. */
  readonly from?: 'earliest' | 'latest'
  /** Ends the loop when everything that was there at its start has been read. */
  readonly untilCaughtUp?: boolean
  /** Also attempts that did not end their run (`kind` 'attempt'). */
  readonly includeAttempts?: boolean
  /**
   * Name of a durable consumer: the server keeps its position. Results are acknowledged by message (up to 1 MiB of results) when the body
   * has finished with the last of it; `after`, `since` and `from` count on first use only. A second stream of the same name takes over:
   * the older loop ends with a ConsumerTakenOverError.
   */
  readonly consumer?: string
  /** On first use of a consumer: retention may remove what it has not read. */
  readonly lossy?: boolean
  /** Ends the loop with an AbortError. */
  readonly signal?: AbortSignal
}

/** Results that arrived together. `results` is empty for a heartbeat. */
export interface ResultBatch<Result> {
  readonly results: readonly Result[]
  /** Resume after this. */
  readonly cursor: string
  /** Everything that was in the log when this was sent has been sent. */
  readonly caughtUp: boolean
}

/** What a stream needs of its client. */
export interface StreamParts extends MessageSource {
  readonly scopes: CallScopes
  /** Acknowledges at the server, with retries. */
  readonly acknowledge: (consumer: string, cursor: string) => Promise<void>
}

/**
 * The results that match, in order, from a start point on and then live. A loop over it resumes by itself after any break and gets each
 * result once; it is read no faster than its body is; leaving it ends the call at the server.
 *
 * @example
 * for await (const result of client.results({ consumer: 'billing', filter: { handlers: ['invoice'] } })) {
 *   if (result.outcome === 'succeeded') await book(result.output)
 * }
 */
export class ResultStream<Result> implements AsyncIterable<Result> {
  readonly #parts: StreamParts
  readonly #options: ResultOptions
  readonly #request: Partial<StreamResultsRequest>
  #cursor: string | undefined

  /** @internal Made by `client.results()`. */
  constructor(parts: StreamParts, options: ResultOptions) {
    this.#parts = parts
    this.#options = options
    this.#request = requestOf(options)
  }

  /** Everything up to here has been handed out and finished with: keep it, and give it as `after` to go on later. */
  get cursor(): string | undefined {
    return this.#cursor
  }

  [Symbol.asyncIterator](): AsyncIterator<Result, void, void> {
    return new ResultLoop(this.#read.bind(this), this.#parts.scopes, this.#options.signal)
  }

  /**
   * The same, as the results arrive: in batches, each with the cursor to store beside what was made of it (in one transaction, so that
   * nothing is lost or doubled even when the reader dies).
   */
  async *batches(): AsyncGenerator<ResultBatch<Result>, void, void> {
    const scope = this.#parts.scopes.open(this.#options.signal)
    try {
      for await (const { results, cursor, caughtUp } of this.#read(scope)) {
        yield { results: results.map(toTaskResult) as Result[], cursor, caughtUp }
      }
    } finally {
      scope.leave()
    }
  }

  async *#read(scope: CallScope): AsyncGenerator<StreamResultsResponse, void, void> {
    const acks = this.#acks()
    const beforeResume = acks && (() => acks.flush())
    let failed = false
    try {
      const reading = { request: this.#request, scope, ...(beforeResume && { beforeResume }) }
      for await (const message of resultMessages(this.#parts, reading)) {
        yield message
        // the body has come back for more: it has finished with all of it
        this.#cursor = message.cursor
        acks?.finished(message.cursor)
        acks?.throwIfFailed()
      }
    } catch (error) {
      failed = true
      throw error
    } finally {
      if (!failed) await acks?.flush()
    }
  }

  #acks(): ConsumerAcks | undefined {
    const { consumer } = this.#options
    return consumer === undefined
      ? undefined
      : new ConsumerAcks((cursor) => this.#parts.acknowledge(consumer, cursor))
  }
}

/** One loop over single results. Written by hand: an async generator costs several turns of the event loop a result. */
class ResultLoop<Result> implements AsyncIterator<Result, void, void> {
  readonly #scope: CallScope
  readonly #messages: AsyncGenerator<StreamResultsResponse, void, void>
  #results: StreamResultsResponse['results'] = []
  #index = 0

  constructor(
    read: (scope: CallScope) => AsyncGenerator<StreamResultsResponse, void, void>,
    scopes: CallScopes,
    signal: AbortSignal | undefined,
  ) {
    this.#scope = scopes.open(signal)
    this.#messages = read(this.#scope)
  }

  next(): Promise<IteratorResult<Result, void>> {
    const result = this.#results[this.#index]
    if (result === undefined) return this.#more()
    if (this.#scope.reason !== undefined) return this.#abandon(this.#scope.reason)
    this.#index++
    return Promise.resolve({ done: false, value: toTaskResult(result) as Result })
  }

  async return(): Promise<IteratorResult<Result, void>> {
    this.#results = []
    // also when a next() is under way, which would hold up the return
    this.#scope.end(new PunctualError({ message: 'the loop over the results was left' }))
    try {
      await this.#messages.return()
    } finally {
      this.#scope.leave()
    }
    return { done: true, value: undefined }
  }

  /** The signal or the client has ended the loop in the middle of a message: the rest of it is not handed out, nor acknowledged. */
  async #abandon(reason: Error): Promise<never> {
    await this.return()
    throw reason
  }

  async #more(): Promise<IteratorResult<Result, void>> {
    try {
      for (;;) {
        const { done, value } = await this.#messages.next()
        if (done === true) break
        this.#results = value.results
        this.#index = 0
        if (value.results.length > 0) return await this.next()
      }
    } catch (error) {
      this.#results = []
      this.#scope.leave()
      throw error
    }
    this.#scope.leave()
    return { done: true, value: undefined }
  }
}

function requestOf(options: ResultOptions): Partial<StreamResultsRequest> {
  const { filter, includeAttempts, untilCaughtUp, consumer, lossy } = options
  const request: Partial<StreamResultsRequest> = {
    includeAttempts: includeAttempts ?? false,
    stopWhenCaughtUp: untilCaughtUp ?? false,
    consumer: consumer ?? '',
    lossy: lossy ?? false,
  }
  if (filter !== undefined) request.filter = toFilterMessage(filter)
  const start = startOf(options)
  if (start !== undefined) request.start = start
  return request
}

function startOf({ after, since, from }: ResultOptions): StreamResultsRequest['start'] {
  const said = Object.entries({ after, since, from }).filter(([, value]) => value !== undefined)
  if (said.length > 1) {
    throw new RangeError(`${said.map(([name]) => name).join(' and ')} exclude each other: give one`)
  }
  if (after !== undefined) return { $case: 'afterCursor', value: after }
  if (since !== undefined) return { $case: 'since', value: toTimestamp(since, 'since') }
  if (from === 'earliest') return { $case: 'position', value: Position.EARLIEST }
  if (from === 'latest') return { $case: 'position', value: Position.LATEST }
  if (from !== undefined) throw new RangeError(`from must be earliest or latest, got ${String(from)}`)
  return undefined
}

/** A filter as the wire has it. */
export function toFilterMessage(filter: ResultFilter): FilterMessage {
  return {
    taskIds: [...(filter.taskIds ?? [])],
    handlers: [...(filter.handlers ?? [])],
    labels: { ...filter.labels },
    outcomes: (filter.outcomes ?? []).map(fromOutcome),
    origins: [...(filter.origins ?? [])],
  }
}

/** The same, the other way round; what is empty is left out. */
export function fromFilterMessage(message: FilterMessage): ResultFilter {
  const { taskIds, handlers, labels, outcomes, origins } = message
  const known = outcomes.map(toOutcome).filter((outcome) => outcome !== undefined)
  return {
    ...(taskIds.length > 0 && { taskIds }),
    ...(handlers.length > 0 && { handlers }),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(known.length > 0 && { outcomes: known }),
    ...(origins.length > 0 && { origins }),
  }
}
