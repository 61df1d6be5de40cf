import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { AttemptLedger } from './attempt-ledger.js'
import { endingOf, type ThreadEnding } from './pool-errors.js'
import type { FromThread, ThreadSettings, ToThread } from './thread-protocol.js'
import type { SessionStart } from './worker.js'
import { workerEntry } from './worker-entry.js'

/** What the threads of a pool have in common. */
export interface ThreadOptions {
  readonly settings: ThreadSettings
  /** Of the JavaScript heap; buffers are not limited by it. */
  readonly memoryLimitMb: number
  /** All of the environment that a handler sees. */
  readonly env: Readonly<Record<string, string>>
}

export interface SessionListener {
  message(message: FromThread): void
  /** The thread is gone: it runs nothing any more. Called once. */
  died(ending: ThreadEnding): void
}

/**
 * One worker thread, from its start to its death. Piscina starts it, limits it and tells how it ended; a pool of its own, so that no death touches another
 * thread, and none is started that nobody asked for.
 */
export class ThreadSession {
  readonly ledger: AttemptLedger
  readonly #listener: SessionListener
  readonly #options: ThreadOptions
  readonly #port: MessagePort
  readonly #farPort: MessagePort
  #pool: Piscina | undefined
  #thread: Worker | undefined
  #over = false

  /** @param rows - Attempts in hand at once. */
  constructor(options: ThreadOptions, rows: number, listener: SessionListener) {
    this.#options = options
    this.#listener = listener
    this.ledger = new AttemptLedger(AttemptLedger.memoryFor(rows))
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#farPort = port2
    port1.on('message', (message: FromThread) => listener.message(message))
  }

  /** Starts the thread. What was sent before waits for it. */
  open(): void {
    if (this.#over) return
    const { settings, memoryLimitMb, env } = this.#options
    const { filename, execArgv } = workerEntry(settings.modules)
    this.#pool = new Piscina({
      minThreads: 0,
      maxThreads: 1,
      env: { ...env },
      resourceLimits: { maxOldGenerationSizeMb: memoryLimitMb },
      // Never in play while our one task runs; 'sync' would block the event loop of a thread without a task.
      atomics: 'disabled',
      recordTiming: false,
      ...(execArgv === undefined ? {} : { execArgv }),
    })
    this.#pool.on('error', (error: unknown) => this.#end(error))
    const start: SessionStart = { port: this.#farPort, ledger: this.ledger.memory, settings }
    this.#pool
      .run(start, { filename, name: 'runSession', transferList: [this.#farPort] })
      .catch((error: unknown) => this.#end(error))
    this.#thread = this.#pool.threads[0]
  }

  send(message: ToThread): void {
    this.#port.postMessage(message)
  }

  /** Hears what the thread has sent so far, without waiting for a turn of the event loop. */
  hear(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#port)
      if (received === undefined) return
      this.#listener.message(received.message as FromThread)
    }
  }

  /** Stops the thread by force. `died` follows when it is really gone: not before a native call that it is in has returned. */
  terminate(): void {
    if (this.#thread === undefined) this.#end(new Error('stopped before it was started'))
    else void this.#thread.terminate()
  }

  /** Ends the thread without telling. */
  async close(): Promise<void> {
    this.#over = true
    this.#port.close()
    await this.#pool?.destroy()
  }

  #end(error: unknown): void {
    if (this.#over) return
    this.#over = true
    // What the thread sent before its end is still to be heard.
    this.hear()
    this.#port.close()
    // A run after this would start a thread again, so nobody gets the pool.
    void this.#pool?.destroy()
    this.#listener.died(endingOf(error))
  }
}
