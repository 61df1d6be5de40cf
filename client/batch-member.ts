import type { ScheduleRequest } from '../proto/generated/punctual/v1/scheduler_service.js'
import type { CallScope } from './call-scope.js'
import type { Deadlines, Timed } from './deadlines.js'
import {
  CallAbortedError,
  ClientClosedError,
  DeadlineExceededError,
  type PunctualError,
  wasNotDone,
} from './errors.js'
import { encodedSizeAtMost } from './encoded-size.js'

/** What a call of a batch is made of. */
export interface MemberParts<Answer> {
  readonly request: ScheduleRequest
  readonly deadlineMs: number
  readonly scope: CallScope
  readonly deadlines: Deadlines
  /** On the steady clock. */
  readonly endAt: number
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: Error) => void
}

/** One call of a batch: settled once, by its answer, its own deadline or its own signal, whichever comes first. */
export class BatchMember<Answer> implements Timed {
  readonly request: ScheduleRequest
  /** Estimated from above. */
  readonly bytes: number
  readonly endAt: number
  /** It has been sent, and no answer says that nothing was stored. */
  mayBeStored = false
  settled = false
  lastError: PunctualError | undefined
  /** Called once, when it is settled. */
  onSettled: (() => void) | undefined
  readonly #parts: MemberParts<Answer>

  constructor(parts: MemberParts<Answer>) {
    this.#parts = parts
    this.request = parts.request
    this.bytes = encodedSizeAtMost(parts.request)
    this.endAt = parts.endAt
    parts.deadlines.add(this)
  }

  accept(answer: Answer): void {
    if (this.#settle()) this.#parts.resolve(answer)
  }

  refuse(error: Error): void {
    const told = error instanceof DeadlineExceededError ? this.#tooLate() : error
    if (this.#settle()) this.#parts.reject(told)
  }

  /** Its deadline has come. */
  expire(): void {
    this.refuse(this.#tooLate())
  }

  /** Its signal or the closing client ends it. */
  abandon(reason: Error): void {
    const told = this.mayBeStored ? this.#afterSending(reason) : reason
    if (this.#settle()) this.#parts.reject(told)
  }

  /** It failed, but is worth another try. */
  failFor(error: PunctualError): this {
    this.lastError = error
    if (wasNotDone(error)) this.mayBeStored = false
    return this
  }

  /** Has it time for another try then? If not it is refused with the error of the last: that tells more than "deadline exceeded". */
  keepsUntil(instant: number): boolean {
    if (instant < this.endAt) return true
    if (this.lastError !== undefined) this.refuse(this.lastError)
    return false
  }

  /** True the first time. */
  #settle(): boolean {
    if (this.settled) return false
    this.settled = true
    this.#parts.deadlines.delete(this)
    this.#parts.scope.leave()
    this.onSettled?.()
    return true
  }

  #tooLate(): DeadlineExceededError {
    const { deadlineMs } = this.#parts
    const message = this.mayBeStored
      ? `no answer within ${deadlineMs} ms: ${this.#mayBeStoredNote()}`
      : `not sent within ${deadlineMs} ms: the call waited behind others; nothing is stored`
    return new DeadlineExceededError({ message, metadata: this.#metadata(), cause: this.lastError })
  }

  #afterSending(reason: Error): Error {
    const note = this.#mayBeStoredNote()
    if (reason instanceof CallAbortedError) {
      return new CallAbortedError(
        { reason: reason.cause },
        `aborted by its signal after it was sent: ${note}`,
      )
    }
    if (reason instanceof ClientClosedError) {
      return new ClientClosedError(`the client was closed before the answer came: ${note}`)
    }
    return reason
  }

  #mayBeStoredNote(): string {
    return `the task '${this.request.task?.id ?? ''}' may be stored`
  }

  #metadata(): Record<string, string> {
    return { task_id: this.request.task?.id ?? '' }
  }
}
