import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { StoreUnavailableError } from '../../task/errors.js'
import type { Channel, StoreSettings } from './channel.js'
import type { Operation, ReadOperation, WriteOperation } from './operations.js'
import { domainError, type FromThread, type ToThread } from './thread-messages.js'

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** Built: store-thread.js. From the sources, as specifications run: store-thread.ts, which a thread can only load with the help of tsx. */
function threadEntry(): { url: URL; execArgv: string[] } {
  const built = new URL('./store-thread.js', import.meta.url)
  if (existsSync(fileURLToPath(built))) return { url: built, execArgv: [] }
  // `--import tsx` loads no ES modules in a worker thread: it looks for the main thread.
  const api = import.meta.resolve('tsx/esm/api')
  const register = `import { register } from ${JSON.stringify(api)}; register()`
  return {
    url: new URL('./store-thread.ts', import.meta.url),
    execArgv: ['--import', `data:text/javascript,${encodeURIComponent(register)}`],
  }
}

/** One thread that runs operations: the writer, or a reader. */
class StoreThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  readonly #opened: Promise<string>
  #settleOpen!: Waiting
  #closed: (() => void) | undefined
  #next = 1
  #gone: Error | undefined

  constructor(settings: StoreSettings, role: 'writer' | { readOnly: string }) {
    const { url, execArgv } = threadEntry()
    // No environment: the thread needs none, and nothing can leak through it.
    this.#worker = new Worker(url, {
      workerData: { settings, role },
      execArgv,
      env: {},
      name: role === 'writer' ? 'store' : 'store-reader',
    })
    this.#opened = new Promise<unknown>((resolve, reject) => {
      this.#settleOpen = { resolve, reject }
    }) as Promise<string>
    this.#worker.on('message', (message: FromThread) => this.#receive(message))
    this.#worker.on('error', (error) =>
      this.#end(new StoreUnavailableError(`its thread failed: ${error.message}`, { cause: error })),
    )
    this.#worker.on('exit', () => this.#end(new StoreUnavailableError('its thread has ended')))
  }

  /** The file of the store. */
  opened(): Promise<string> {
    return this.#opened
  }

  run(operation: Operation): Promise<unknown> {
    if (this.#gone) return Promise.reject(this.#gone)
    return new Promise((resolve, reject) => {
      const id = this.#next++
      this.#waiting.set(id, { resolve, reject })
      this.#worker.postMessage({ kind: 'do', id, operation } satisfies ToThread)
    })
  }

  async close(): Promise<void> {
    if (this.#gone) return
    await new Promise<void>((resolve) => {
      this.#closed = resolve
      this.#worker.postMessage({ kind: 'close' } satisfies ToThread)
    })
    await this.#worker.terminate()
  }

  #receive(message: FromThread): void {
    if (message.kind === 'open') this.#settleOpen.resolve(message.file)
    else if (message.kind === 'failedToOpen') this.#settleOpen.reject(domainError(message.error))
    else if (message.kind === 'closed') this.#closed?.()
    else
      for (const answer of message.answers) {
        const waiting = this.#waiting.get(answer.id)
        this.#waiting.delete(answer.id)
        if ('error' in answer) waiting?.reject(domainError(answer.error))
        else waiting?.resolve(answer.value)
      }
  }

  #end(error: Error): void {
    this.#gone ??= error
    this.#settleOpen.reject(error)
    for (const { reject } of this.#waiting.values()) reject(this.#gone)
    this.#waiting.clear()
    this.#closed?.()
  }
}

/** SQLite in threads of its own: no fsync delays a timer, and no long read delays a commit. */
export class ThreadChannel implements Channel {
  readonly #settings: StoreSettings
  #writer: StoreThread | undefined
  #reader: StoreThread | undefined

  constructor(settings: StoreSettings) {
    this.#settings = settings
  }

  async open(): Promise<void> {
    const writer = new StoreThread(this.#settings, 'writer')
    const file = await writer.opened()
    this.#writer = writer
    if (file === '') return
    const reader = new StoreThread(this.#settings, { readOnly: file })
    await reader.opened()
    this.#reader = reader
  }

  write(operation: WriteOperation): Promise<unknown> {
    return this.#running().run(operation)
  }

  read(operation: ReadOperation): Promise<unknown> {
    return (this.#reader ?? this.#running()).run(operation)
  }

  async close(): Promise<void> {
    await this.#reader?.close()
    await this.#writer?.close()
  }

  #running(): StoreThread {
    if (!this.#writer) throw new StoreUnavailableError('it is not open')
    return this.#writer
  }
}
