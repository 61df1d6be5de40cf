import type { Channel, StoreSettings } from './channel.js'
import type { ReadOperation, WriteOperation } from './operations.js'
import { StoreReader } from './reader.js'
import { type OpenStore, openStoreFolder } from './store-folder.js'
import { StoreWriter } from './writer.js'

interface Waiting {
  readonly operation: WriteOperation
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** SQLite in this thread: for tests on virtual time, where a commit must be over when the microtasks have drained. */
export class InlineChannel implements Channel {
  readonly #settings: StoreSettings
  #store: OpenStore | undefined
  #writer: StoreWriter | undefined
  #reader: StoreReader | undefined
  #waiting: Waiting[] = []

  constructor(settings: StoreSettings) {
    this.#settings = settings
  }

  async open(): Promise<void> {
    this.#store = openStoreFolder(this.#settings.folder, this.#settings)
    this.#writer = new StoreWriter(this.#store.connection)
    this.#reader = new StoreReader(this.#store.connection)
  }

  write(operation: WriteOperation): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ operation, resolve, reject })
      if (this.#waiting.length === 1) queueMicrotask(() => this.#commit())
    })
  }

  async read(operation: ReadOperation): Promise<unknown> {
    if (!this.#reader) throw new Error('the store is not open')
    return this.#reader.run(operation)
  }

  async close(): Promise<void> {
    if (this.#waiting.length > 0) this.#commit()
    this.#store?.close()
    this.#store = undefined
    this.#reader = undefined
    this.#writer = undefined
  }

  #commit(): void {
    const group = this.#waiting
    this.#waiting = []
    const writer = this.#writer
    if (!writer) {
      for (const { reject } of group) reject(new Error('the store is closed'))
      return
    }
    writer.run(group.map(({ operation }) => operation)).forEach((answer, i) => {
      const { resolve, reject } = group[i] as Waiting
      if (answer.ok) resolve(answer.value)
      else reject(answer.error)
    })
  }
}
