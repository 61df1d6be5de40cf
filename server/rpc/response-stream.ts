import type { ServerWritableStream } from '@grpc/grpc-js'

/** What may wait to be sent. grpc-js itself would take 16 messages of any size before it says stop. */
const MAX_UNSENT_BYTES = 1024 * 1024

/** The sending side of a stream, with a bound on what waits for a slow reader. */
export class ResponseStream {
  readonly #call: ServerWritableStream<Buffer, Buffer>
  readonly #gone = new AbortController()
  #unsentBytes = 0
  #wake: (() => void) | undefined

  constructor(call: ServerWritableStream<Buffer, Buffer>) {
    this.#call = call
    if (call.cancelled) this.#gone.abort()
    else call.once('cancelled', () => this.#gone.abort())
    this.signal.addEventListener('abort', () => this.#wake?.())
  }

  /** Aborted once nobody reads any more: cancelled, or past its deadline. */
  get signal(): AbortSignal {
    return this.#gone.signal
  }

  /** False: what was written waits for the reader; wait for `room` before the next. */
  get hasRoom(): boolean {
    return this.#unsentBytes < MAX_UNSENT_BYTES
  }

  write(message: Uint8Array): void {
    if (this.signal.aborted) return
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
    this.#unsentBytes += bytes.byteLength
    this.#call.write(bytes, () => {
      this.#unsentBytes -= bytes.byteLength
      if (this.hasRoom) this.#wake?.()
    })
  }

  /** Resolves when there is room, the reader has gone, or `signal` is aborted. After a reader has gone, grpc-js tells of no write any more. */
  async room(signal: AbortSignal): Promise<void> {
    if (this.hasRoom || this.signal.aborted || signal.aborted) return
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#wake = undefined
        signal.removeEventListener('abort', done)
        resolve()
      }
      this.#wake = done
      signal.addEventListener('abort', done)
    })
  }
}
