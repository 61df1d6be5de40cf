import { StoreUnavailableError } from '../../task/errors.js'
import type { Channel, StoreSettings } from './channel.js'
import type { ReadOperation, WriteOperation } from './operations.js'
import { StoreReader } from './reader.js'
import { type OpenStore, openStoreFolder } from './store-folder.js'
import { domainError } from './store-trouble.js'
import { StoreWriter } from './writer.js'

interface Waiting {
  readonly operation: WriteOperation
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

interface Opened {
  readonly store: OpenStore
  readonly writer: StoreWriter
  readonly reader: StoreReader
}

/** SQLite in this thread: for tests on virtual time, where a commit must be over when the microtasks have drained. */
export class InlineChannel implements Channel {
  readonly #settings: StoreSettings
  #opened: Opened | undefined
  #waiting: Waiting[] = []

  constructor(settings: StoreSettings) {
    this.#settings = settings
  }

  async open(): Promise<void> {
    const store = openStoreFolder(this.#settings)
    this.#opened = {
      store,
      writer: new StoreWriter(store.connection, store.room),
      reader: new StoreReader(store.connection),
    }
  }

  async readable(): Promise<void> {}

  write(operation: WriteOperation): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operation, resolve, reject })
      if (this.#waiting.length === 1) queueMicrotask(() => this.#commit())
    })
  }

  async read(operation: ReadOperation): Promise<unknown> {
    const { reader } = this.#mustBeOpen()
    try {
      return reader.run(operation)
    } catch (error) {
      throw domainError(error as Error)
    }
  }

  async close(): Promise<void> {
    this.#commit()
    this.#opened?.store.close()
    this.#opened = undefined
  }

  #commit(): void {
    const group = this.#waiting
    this.#waiting = []
    if (group.length === 0) return
    try {
      const answers = this.#mustBeOpen().writer.run(group.map(({ operation }) => operation))
      for (const [i, { resolve, reject }] of group.entries()) {
        const answer = answers[i]
        if (answer?.ok) resolve(answer.value)
        else reject(domainError(answer?.error ?? new Error('the writer gave no answer')))
      }
    } catch (error) {
      for (const { reject } of group) reject(error as Error)
    }
  }

  #mustBeOpen(): Opened {
    if (!this.#opened) throw new StoreUnavailableError('it is not open')
    return this.#opened
  }
}
