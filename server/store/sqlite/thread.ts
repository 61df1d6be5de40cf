import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { StoreUnavailableError } from '../../task/errors.js'
import type { StoreSettings } from './channel.js'
import type { Operation, PackedInsert, PackedUpdate } from './operations.js'
import { errorOf, type FromThread, type NumberedAnswer, type ToThread } from './thread-messages.js'

/** What a batch takes dies with it: more room for the young only makes the process bigger (docs/decisions/memory.md). */
const YOUNG_MB = 8

/** Who waits for an answer. `prepared`: the answer that holds if that commit was made. */
export interface Unanswered {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  prepared?: { readonly commit: number; readonly answer: NumberedAnswer } | undefined
}

/** Told what was not answered when a thread ended that nobody had closed, and why. */
export type OnEnd = (left: readonly Unanswered[], why: Error) => void

/** Answers what was prepared for commits up to `commit`; refuses the rest. */
export function settle(left: readonly Unanswered[], commit: number, refusal: Error): void {
  for (const unanswered of left) {
    const { prepared } = unanswered
    if (prepared && prepared.commit <= commit) give(unanswered, prepared.answer)
    else unanswered.reject(refusal)
  }
}

function give({ resolve, reject }: Unanswered, answer: NumberedAnswer): void {
  if ('error' in answer) reject(errorOf(answer.error))
  else resolve(answer.value)
}

/** One thread that runs operations: the writer, or a reader. */
export class StoreThread {
  readonly #worker: Worker
  readonly #onEnd: OnEnd
  #unanswered = new Map<number, Unanswered>()
  #opened: ((opened: { file: string; commit: number } | Error) => void) | undefined
  #closed: (() => void) | undefined
  #next = 1
  #failure: Error | undefined
  #isGone = false
  /** The file of the store; '' = in memory. */
  file = ''
  /** The newest commit on disk when the thread was started. */
  commit = 0

  private constructor(settings: StoreSettings, role: 'writer' | { readonly readOnly: string }, onEnd: OnEnd) {
    const { url, execArgv } = threadEntry()
    this.#onEnd = onEnd
    // No environment: the thread needs none, and nothing can leak through it.
    this.#worker = new Worker(url, {
      workerData: { settings, role },
      execArgv,
      env: {},
      name: role === 'writer' ? 'store' : 'store-reader',
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB },
    })
    this.#worker.on('message', (message: FromThread) => this.#receive(message))
    this.#worker.on('error', (error) => {
      this.#failure = error
    })
    this.#worker.on('exit', () => this.#end())
  }

  /** @throws StoreOpenError when the store cannot be opened. */
  static async start(
    settings: StoreSettings,
    role: 'writer' | { readonly readOnly: string },
    onEnd: OnEnd,
  ): Promise<StoreThread> {
    const thread = new StoreThread(settings, role, onEnd)
    const opened = await new Promise<{ file: string; commit: number } | Error>((resolve) => {
      thread.#opened = resolve
    })
    if (opened instanceof Error) throw opened
    thread.file = opened.file
    thread.commit = opened.commit
    return thread
  }

  run(operation: Operation): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = this.#next++
      if (this.#isGone) {
        reject(this.#why())
        return
      }
      this.#unanswered.set(id, { resolve, reject })
      this.#worker.postMessage({ kind: 'do', id, operation } satisfies ToThread, buffersOf(operation))
    })
  }

  async close(): Promise<void> {
    if (this.#isGone) return
    await new Promise<void>((resolve) => {
      this.#closed = resolve
      this.#worker.postMessage({ kind: 'close' } satisfies ToThread)
    })
    await this.#worker.terminate()
  }

  #receive(message: FromThread): void {
    switch (message.kind) {
      case 'open':
        return this.#open(message)
      case 'failedToOpen':
        return this.#open(errorOf(message.error))
      case 'prepared':
        for (const answer of message.answers) {
          const unanswered = this.#unanswered.get(answer.id)
          if (unanswered) unanswered.prepared = { commit: message.commit, answer }
        }
        return
      case 'undone':
        for (const unanswered of this.#unanswered.values())
          if (unanswered.prepared?.commit === message.commit) unanswered.prepared = undefined
        return
      case 'done':
        return this.#done(message.commit, message.answers)
      case 'closed':
        this.#closed?.()
    }
  }

  #done(commit: number, answers: readonly NumberedAnswer[]): void {
    for (const answer of answers) this.#give(answer.id, answer)
    for (const [id, { prepared }] of this.#unanswered)
      if (prepared && prepared.commit <= commit) this.#give(id, prepared.answer)
  }

  #give(id: number, answer: NumberedAnswer): void {
    const unanswered = this.#unanswered.get(id)
    this.#unanswered.delete(id)
    if (unanswered) give(unanswered, answer)
  }

  #open(opened: { file: string; commit: number } | Error): void {
    this.#opened?.(opened)
    this.#opened = undefined
  }

  #end(): void {
    this.#isGone = true
    const left = [...this.#unanswered.values()]
    this.#unanswered = new Map()
    if (this.#opened) this.#open(this.#why())
    else if (this.#closed) {
      settle(left, 0, this.#why())
      this.#closed()
    } else this.#onEnd(left, this.#why())
  }

  #why(): Error {
    const { message } = this.#failure ?? { message: '' }
    return new StoreUnavailableError(
      message === '' ? 'its thread has ended' : `its thread has ended: ${message}`,
    )
  }
}

/** What is handed over to the thread instead of being copied. */
function buffersOf(operation: Operation): ArrayBuffer[] {
  if (operation.kind === 'insert') return insertBuffers(operation.insert)
  if (operation.kind === 'update') return updateBuffers(operation.update)
  return operation.kind === 'start' ? [operation.starts.numbers.buffer as ArrayBuffer] : []
}

const insertBuffers = ({ numbers, bytes }: PackedInsert): ArrayBuffer[] => [numbers, bytes].map(bufferOf)
const updateBuffers = ({ numbers, entries, live }: PackedUpdate): ArrayBuffer[] =>
  [numbers, entries, live].map(bufferOf)
const bufferOf = (view: Uint8Array | Float64Array): ArrayBuffer => view.buffer as ArrayBuffer

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
