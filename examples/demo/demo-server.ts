import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const START_LIMIT_MS = 30_000

/** `punctual serve` as a process of its own, as an operator would start it, on a data folder that is gone afterwards. */
export class DemoServer {
  readonly address: string
  readonly dataFolder: string
  readonly #process: ChildProcess
  #log = ''

  private constructor(port: number, otlpEndpoint: string) {
    this.address = `127.0.0.1:${port}`
    this.dataFolder = mkdtempSync(join(tmpdir(), 'punctual-demo-'))
    const command = join(
      dirname(createRequire(import.meta.url).resolve('punctual/package.json')),
      'dist/cli/main.js',
    )
    const handlers = fileURLToPath(new URL('handlers.ts', import.meta.url))
    const args = ['serve', '--listen', this.address, '--data', this.dataFolder, '--handlers', handlers]
    // tsx only because the handlers are TypeScript
    this.#process = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), command, ...args], {
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
    for (const stream of [this.#process.stdout, this.#process.stderr])
      stream?.on('data', (chunk: Buffer) => (this.#log += chunk.toString()))
  }

  /**
   * Starts it. Resolves once it listens.
   *
   * @param otlpEndpoint - Where it sends its traces.
   */
  static async start(otlpEndpoint: string): Promise<DemoServer> {
    const port = await freePort()
    const server = new DemoServer(port, otlpEndpoint)
    const since = performance.now()
    while (!(await listens(port))) {
      if (server.#process.exitCode !== null || performance.now() - since > START_LIMIT_MS) {
        server.kill()
        throw new Error(`the server did not start:\n${server.#log}`)
      }
      await sleep(50)
    }
    return server
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

  /** Ends it at once, whatever it does. */
  kill(): void {
    this.#process.kill('SIGKILL')
    rmSync(this.dataFolder, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
