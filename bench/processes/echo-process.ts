import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** What the echo says once it listens. */
export interface EchoReady {
  readonly address: string
}

/** The bare gRPC echo in a process of its own: see `echo-server.ts`. */
export class EchoProcess implements AsyncDisposable {
  readonly address: string
  readonly #process: ChildProcess

  private constructor(address: string, started: ChildProcess) {
    this.address = address
    this.#process = started
  }

  static async start(): Promise<EchoProcess> {
    const started = fork(fileURLToPath(new URL('echo-server.ts', import.meta.url)), {
      execArgv: ['--import', 'tsx'],
    })
    const [{ address }] = (await once(started, 'message')) as [EchoReady]
    return new EchoProcess(address, started)
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.disconnect()
    await ended
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}
