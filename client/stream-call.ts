import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js'
import type { CallScope } from './call-scope.js'
import type { ClientClock } from './client-clock.js'
import { fromServiceError, type PunctualError, UnavailableError } from './errors.js'

/**
 * One call of a server stream, read message by message at the reader's own pace. grpc-js leaves three things to its user, which are
 * done here: an error without a listener ends the process; leaving a loop does not end the call; a silent peer is waited for for ever.
 */
export class StreamCall<Message> {
  readonly #stream: ClientReadableStream<Message>
  readonly #clock: ClientClock
  readonly #silenceMs: number
  readonly #onSilence: () => void
  readonly #arrived: Message[] = []
  #error: PunctualError | undefined
  #ended = false
  #cancelled = false
  #wake: (() => void) | undefined

  /**
   * @param silenceMs - With no message for this long while one is waited for, the call counts as broken.
   * @param onSilence - Called then.
   */
  constructor(
    stream: ClientReadableStream<Message>,
    clock: ClientClock,
    silenceMs: number,
    onSilence: () => void,
  ) {
    this.#stream = stream
    this.#clock = clock
    this.#silenceMs = silenceMs
    this.#onSilence = onSilence
    // for as long as the stream lives: an error may come after everybody has left
    stream.on('error', (error: ServiceError) => {
      this.#error ??= fromServiceError(error)
    })
    stream.on('data', (message: Message) => {
      if (this.#cancelled) return
      this.#arrived.push(message)
      // what is not asked for stays in the flow-control window, and so with the server
      stream.pause()
      this.#wake?.()
    })
    // comes after the last message, also when an error came first
    stream.on('end', () => {
      this.#ended = true
      this.#wake?.()
    })
  }

  /** The next message; `undefined` when the server has ended the stream well. Rejects with the typed error when it broke. */
  async next(scope: CallScope): Promise<Message | undefined> {
    if (this.#arrived.length === 0 && !this.#ended) await this.#wait(scope)
    const message = this.#arrived.shift()
    if (message !== undefined) return message
    if (this.#error !== undefined) throw this.#error
    return undefined
  }

  /** Ends the call, also at the server. Harmless when it has ended. */
  cancel(): void {
    this.#cancelled = true
    this.#arrived.length = 0
    this.#stream.cancel()
    // lets go of what was read ahead
    this.#stream.resume()
  }

  #wait(scope: CallScope): Promise<void> {
    return scope.step<void>((resolve, reject) => {
      const timer = this.#clock.setTimer(this.#silenceMs, () => {
        stop()
        this.#onSilence()
        reject(silence(this.#silenceMs))
      })
      const stop = (): void => {
        timer.cancel()
        this.#wake = undefined
      }
      this.#wake = () => {
        stop()
        resolve()
      }
      this.#stream.resume()
      return stop
    })
  }
}

function silence(ms: number): PunctualError {
  const message = `the stream was silent for ${ms} ms, three heartbeats: the connection counts as lost`
  return new UnavailableError({ code: 'UNAVAILABLE', message })
}
