import type { ScheduleRequest } from '../proto/generated/punctual/v1/scheduler_service.js'
import { CallScope, type CallScopes } from './call-scope.js'
import type { ClientClock } from './client-clock.js'
import { isWorthRetrying, PunctualError } from './errors.js'
import { BatchMember } from './batch-member.js'
import { Deadlines } from './deadlines.js'
import { backoffMs, CALL_BACKOFF, pause, type RetryRules } from './retrying.js'

/** What one call may carry. The server refuses more tasks; gRPC refuses 4 MiB, and sizes are estimated from above. */
const MAX_TASKS = 10_000
const MAX_BYTES = 4 * 1024 * 1024 - 4 * 1024

/** Sends requests as one call; one answer for each, in order. Rejects when the call as a whole failed. */
export type SendBatch<Answer> = (
  requests: readonly ScheduleRequest[],
  deadlineMs: number,
  scope: CallScope,
) => Promise<readonly (Answer | PunctualError)[]>

/**
 * Gathers calls into batches: a call that is alone is sent at once; while a batch is under way, calls gather, and travel together when it
 * has been answered. One batch at a time keeps two calls for the same id in order. What fails for now is sent again, with the same ids.
 */
export class Coalescer<Answer> {
  readonly #send: SendBatch<Answer>
  readonly #scopes: CallScopes
  readonly #rules: RetryRules
  readonly #deadlines: Deadlines
  #waiting: BatchMember<Answer>[] = []
  #running = false
  #failures = 0

  /** @param scopes - Where the calls are registered, so that their signals and the closing client end them. */
  constructor(send: SendBatch<Answer>, scopes: CallScopes, rules: RetryRules) {
    this.#send = send
    this.#scopes = scopes
    this.#rules = rules
    this.#deadlines = new Deadlines(rules.clock)
  }

  get #clock(): ClientClock {
    return this.#rules.clock
  }

  /**
   * Sends one request with those beside it. Deadline and signal are this call's own: before it is sent it leaves the batch; after that it
   * rejects saying that the task may be stored.
   */
  add(request: ScheduleRequest, deadlineMs: number, signal: AbortSignal | undefined): Promise<Answer> {
    const scope = this.#scopes.open(signal)
    const endAt = this.#clock.steady() + deadlineMs
    return scope.step((resolve, reject) => {
      const deadlines = this.#deadlines
      const member = new BatchMember({ request, deadlineMs, endAt, scope, deadlines, resolve, reject })
      this.#waiting.push(member)
      // once everything that is called in this tick has been added
      if (!this.#running) queueMicrotask(() => void this.#run())
      return (reason) => member.abandon(reason)
    })
  }

  async #run(): Promise<void> {
    if (this.#running) return
    this.#running = true
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      const failed = await this.#deliver(batch)
      this.#failures = failed.length === 0 ? 0 : this.#failures + 1
      if (failed.length > 0) await this.#backOff(failed)
    }
    this.#running = false
  }

  /** The next batch, as large as one call may be; at least one, however large. */
  #take(): BatchMember<Answer>[] {
    const batch: BatchMember<Answer>[] = []
    let bytes = 0
    let looked = 0
    for (const member of this.#waiting) {
      if (!member.settled) {
        bytes += member.bytes
        if (batch.length === MAX_TASKS || (batch.length > 0 && bytes > MAX_BYTES)) break
        batch.push(member)
      }
      looked++
    }
    this.#waiting = this.#waiting.slice(looked)
    return batch
  }

  /** Sends a batch and settles its members; returns those that are worth another try. */
  async #deliver(batch: readonly BatchMember<Answer>[]): Promise<BatchMember<Answer>[]> {
    const scope = whileAnyWaits(batch)
    const deadlineMs = Math.max(1, Math.max(...batch.map(({ endAt }) => endAt)) - this.#clock.steady())
    for (const member of batch) member.mayBeStored = true
    let answers: readonly (Answer | Error)[]
    try {
      answers = await this.#send(
        batch.map(({ request }) => request),
        deadlineMs,
        scope,
      )
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error))
      answers = batch.map(() => failure)
    }
    const failed: BatchMember<Answer>[] = []
    for (const [index, member] of batch.entries()) {
      const answer = answers[index] ?? new Error('the server left a task of a batch without an answer')
      if (!(answer instanceof Error)) member.accept(answer)
      else if (this.#mayTryAgain(answer)) failed.push(member.failFor(answer))
      else member.refuse(answer)
    }
    return failed.filter((member) => !member.settled)
  }

  #mayTryAgain(error: Error): error is PunctualError {
    return error instanceof PunctualError && isWorthRetrying(error) && this.#rules.mayRetry(error)
  }

  /** Puts members back in front and waits, unless that takes longer than they have. */
  async #backOff(failed: readonly BatchMember<Answer>[]): Promise<void> {
    const askedMs = Math.max(...failed.map(({ lastError }) => lastError?.retryAfterMs ?? 0))
    const waitMs = backoffMs(CALL_BACKOFF, this.#failures, this.#rules.random(), askedMs)
    const until = this.#clock.steady() + waitMs
    const patient = failed.filter((member) => member.keepsUntil(until))
    if (patient.length === 0) return
    this.#waiting = [...patient, ...this.#waiting]
    try {
      await pause(this.#clock, waitMs, whileAnyWaits(patient))
    } catch {
      // none of them waits any more: the calls behind them need not either
    }
  }
}

/** Made once: each batch ends its scope, and an error costs a stack trace that nobody reads. */
const NOBODY_WAITS = new PunctualError({ message: 'no call of the batch waits any more' })

/** A scope that ends when the last of these members is settled: nobody waits for the answer any more. */
function whileAnyWaits(members: readonly Pick<BatchMember<never>, 'onSettled'>[]): CallScope {
  const scope = new CallScope()
  let left = members.length
  const oneLess = (): void => {
    if (--left === 0) scope.end(NOBODY_WAITS)
  }
  for (const member of members) member.onSettled = oneLess
  return scope
}
