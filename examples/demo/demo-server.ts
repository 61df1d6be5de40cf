import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

type ServerProcess = ChildProcessByStdio<null, Readable, Readable>

/** `punctual serve` as a process of its own, as an operator would start it, on a data folder that is gone afterwards. */
export class DemoServer {
  readonly dataFolder = mkdtempSync(join(tmpdir(), 'punctual-demo-'))
  #address = ''
  readonly #process: ServerProcess
  #log = ''

  private constructor(otlpEndpoint: string) {
    const root = dirname(createRequire(import.meta.url).resolve('punctual/package.json'))
    const handlers = fileURLToPath(new URL('handlers.ts', import.meta.url))
    // port 0: any that is free
    const args = ['serve', '--listen', '127.0.0.1:0', '--data', this.dataFolder, '--handlers', handlers]
    // tsx only because the handlers are TypeScript
    const loader = ['--import', import.meta.resolve('tsx')]
    this.#process = spawn(process.execPath, [...loader, join(root, 'dist/cli/main.js'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        OTEL_SERVICE_NAME: 'punctual',
        OTEL_TRACES_EXPORTER: 'otlp',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_EXPORTER_OTLP_ENDPOINT: otlpEndpoint,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      },
    })
    // whatever happens to this program, nothing is left running
    process.once('exit', () => this.#kill())
  }

  /**
   * Starts it. Resolves once it serves.
   *
   * @param otlpEndpoint - Where it sends its traces.
   */
  static async start(otlpEndpoint: string): Promise<DemoServer> {
    const server = new DemoServer(otlpEndpoint)
    await server.#serves()
    return server
  }

  get address(): string {
    return this.#address
  }

  /** Lets it drain, as an operator would. Afterwards its traces have been sent. */
  async stop(): Promise<void> {
    const running = this.#process
    if (running.exitCode === null) {
      const ended = once(running, 'close')
      running.kill('SIGTERM')
      await ended
    }
    rmSync(this.dataFolder, { recursive: true, force: true })
    if (running.exitCode !== 0) throw new Error(`the server ended with ${running.exitCode}:\n${this.#log}`)
  }

  #kill(): void {
    this.#process.kill('SIGKILL')
    rmSync(this.dataFolder, { recursive: true, force: true })
  }

  /** Resolves when it has said where it serves. */
  #serves(): Promise<void> {
    const { stdout, stderr } = this.#process
    return new Promise((resolve, reject) => {
      for (const stream of [stdout, stderr]) {
        stream.on('data', (chunk: Buffer) => {
          this.#log += chunk.toString()
          const address = /serving on (\S+)/.exec(this.#log)?.[1]
          if (address === undefined) return
          this.#address = address
          resolve()
        })
      }
      this.#process.once('close', () => {
        rmSync(this.dataFolder, { recursive: true, force: true })
        reject(new Error(`the server did not start:\n${this.#log}`))
      })
    })
  }
}
