import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BENCH_FOLDER } from './bench-folder.js'

const COMMAND = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

/** What a server of the bench may be started with. */
export interface ServerChoice {
  /** Of an existing store; left out: an empty one that goes with the server. */
  readonly data?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Of Node itself: for profiles. */
  readonly nodeArgs?: readonly string[]
}

/** The built server in a process of its own. */
export class ServerProcess implements AsyncDisposable {
  readonly address: string
  /** Milliseconds from the start of the process until it said that it serves. */
  readonly startMs: number
  readonly #process: ChildProcess
  readonly #ownFolder: string | undefined

  private constructor(
    address: string,
    startMs: number,
    started: ChildProcess,
    ownFolder: string | undefined,
  ) {
    this.address = address
    this.startMs = startMs
    this.#process = started
    this.#ownFolder = ownFolder
  }

  /** Starts one; resolves when it serves. @throws Error with what it wrote when it does not. */
  static async start(choice: ServerChoice = {}): Promise<ServerProcess> {
    const ownFolder = choice.data === undefined ? mkdtempSync(join(BENCH_FOLDER, 'data-')) : undefined
    const data = choice.data ?? join(ownFolder ?? '', 'store')
    const args = [
      ...(choice.nodeArgs ?? []),
      COMMAND,
      'serve',
      '--data',
      data,
      '--listen',
      '127.0.0.1:0',
      ...(choice.args ?? []),
    ]
    const since = performance.now()
    const started = spawn(process.execPath, args, {
      env: { ...process.env, ...choice.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    const address = await new Promise<string>((resolve, reject) => {
      started.once('exit', (code) => reject(new Error(`the server ended with ${code}:\n${said}`)))
      for (const stream of [started.stdout, started.stderr]) {
        stream.on('data', (chunk: Buffer) => {
          said += chunk.toString()
          const serving = /serving on (\S+)/.exec(said)?.[1]
          if (serving !== undefined) resolve(serving)
        })
      }
    })
    return new ServerProcess(address, performance.now() - since, started, ownFolder)
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  /** Ends it in order and removes what was its own. */
  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit')
      this.#process.kill('SIGTERM')
      // the second one cuts a drain short: a backlog is of no use to anybody any more
      setTimeout(() => this.#process.kill('SIGTERM'), 1_000).unref()
      await ended
    }
    if (this.#ownFolder !== undefined) rmSync(this.#ownFolder, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}
