import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const COMMAND = 'dist/cli/main.js'
const START_LIMIT_MS = 30_000

/** A server of the built package, as a process of its own: it can be killed, and started again on the same data at the same address. */
export class ServerProcess implements AsyncDisposable {
  readonly address: string
  readonly #port: number
  readonly #folder: string
  readonly #args: readonly string[]
  readonly #env: Readonly<Record<string, string>>
  #process: ChildProcess | undefined
  #log = ''

  private constructor(
    port: number,
    folder: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ) {
    this.#port = port
    this.address = `127.0.0.1:${port}`
    this.#folder = folder
    this.#args = args
    this.#env = env
  }

  /** Starts one on an empty folder and a free port. */
  static async start(
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<ServerProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'punctual-'))
    const server = new ServerProcess(await freePort(), folder, args, env)
    await server.start()
    return server
  }

  /** The folder of its store. */
  get data(): string {
    return join(this.#folder, 'data')
  }

  /** Its process number; undefined while it does not run. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** What it has written so far, from its first start on. */
  get log(): string {
    return this.#log
  }

  /** Starts it (again). Resolves once it listens. */
  async start(): Promise<void> {
    const args = ['serve', '--listen', this.address, '--data', this.data, ...this.#args]
    const started = spawn(process.execPath, [COMMAND, ...args], {
      env: { ...process.env, ...this.#env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#process = started
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (chunk: Buffer) => (this.#log += chunk.toString()))
    const since = performance.now()
    while (!(await listens(this.#port))) {
      if (started.exitCode !== null || performance.now() - since > START_LIMIT_MS)
        throw new Error(`no server listens at ${this.address}:\n${this.#log}`)
      await sleep(50)
    }
  }

  /** Waits until the server has written `text`. @throws after a limit, with all that it wrote. */
  async logged(text: string): Promise<void> {
    const since = performance.now()
    while (!this.#log.includes(text)) {
      if (performance.now() - since > START_LIMIT_MS) throw new Error(`'${text}' is not in:\n${this.#log}`)
      await sleep(20)
    }
  }

  /** Sends a signal and waits for the end; the exit code, null when the signal itself ended it. */
  async stop(signal: NodeJS.Signals): Promise<number | null> {
    const running = this.#process
    this.#process = undefined
    if (running === undefined) return null
    if (running.exitCode !== null || running.signalCode !== null) return running.exitCode
    const ended = once(running, 'close')
    running.kill(signal)
    const [code] = (await ended) as [number | null]
    return code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL')
    await rm(this.#folder, { recursive: true, force: true })
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
