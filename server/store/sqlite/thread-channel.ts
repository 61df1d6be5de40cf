import { StoreUnavailableError } from '../../task/errors.js'
import type { Log } from '../../task/log.js'
import type { Channel, StoreSettings } from './channel.js'
import type { Operation, ReadOperation, WriteOperation } from './operations.js'
import { settle, StoreThread, type Unanswered } from './thread.js'

/**
 * SQLite in threads of its own: no fsync delays a timer, and no long read delays a commit.
 *
 * A thread that ends unexpectedly is started anew. What was asked of it and is on disk is answered as if nothing had happened; the rest is refused, and nothing of it is
 * stored. What is asked meanwhile waits for the new thread; if that cannot be started it is refused, and the next call tries again.
 */
export class ThreadChannel implements Channel {
  readonly #settings: StoreSettings
  readonly #log: Log
  #file = ''
  #writer: Promise<StoreThread> | undefined
  #reader: Promise<StoreThread> | undefined
  #isClosed = false

  constructor(settings: StoreSettings, log: Log) {
    this.#settings = settings
    this.#log = log
  }

  async open(): Promise<void> {
    const writer = this.#start('writer')
    this.#file = (await writer).file
    this.#writer = writer
    // what fails is told to whoever waits for it, or reads
    if (this.#file !== '') this.#startReader().catch(() => {})
  }

  async readable(): Promise<void> {
    await this.#reader
  }

  write(operation: WriteOperation): Promise<unknown> {
    return this.#ask(this.#writer ?? this.#restartWriter([]), operation)
  }

  read(operation: ReadOperation): Promise<unknown> {
    if (this.#file !== '') return this.#ask(this.#reader ?? this.#startReader(), operation)
    return this.#ask(this.#writer ?? this.#restartWriter([]), operation)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const thread of [this.#reader, this.#writer]) await (await thread?.catch(() => undefined))?.close()
  }

  async #ask(thread: Promise<StoreThread>, operation: Operation): Promise<unknown> {
    return (await thread).run(operation)
  }

  #start(role: 'writer' | { readonly readOnly: string }): Promise<StoreThread> {
    return StoreThread.start(this.#settings, role, (left, why) => {
      if (this.#isClosed) return settle(left, 0, why)
      this.#log.error('a thread of the store has ended and is started anew', { error: why })
      if (role === 'writer') this.#restartWriter(left).catch(() => {})
      else {
        settle(left, 0, why)
        this.#startReader().catch(() => {})
      }
    })
  }

  /** @param left - What the thread before was asked for and has not answered. */
  #restartWriter(left: readonly Unanswered[]): Promise<StoreThread> {
    const isOpen = !this.#isClosed && this.#file !== ''
    const thread = isOpen ? this.#start('writer') : Promise.reject(new Error('the store is not open'))
    const writer = thread.then(
      (started) => {
        settle(left, started.commit, new StoreUnavailableError('its thread has ended'))
        return started
      },
      (error: Error) => {
        if (this.#writer === writer) this.#writer = undefined
        const refusal = new StoreUnavailableError(error.message, { cause: error })
        settle(left, 0, refusal)
        throw refusal
      },
    )
    if (isOpen) this.#writer = writer
    return writer
  }

  #startReader(): Promise<StoreThread> {
    const reader = this.#start({ readOnly: this.#file }).catch((error: Error) => {
      if (this.#reader === reader) this.#reader = undefined
      throw new StoreUnavailableError(error.message, { cause: error })
    })
    this.#reader = reader
    return reader
  }
}
