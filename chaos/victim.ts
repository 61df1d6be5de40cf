import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, type WriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const START_LIMIT_MS = 60_000
const STOP_LIMIT_MS = 60_000
const HANDLERS = 'chaos/handlers.mjs'

/** The server under test: the built command, as a process that dies and is started again on the same data. */
export class Victim implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'punctual-chaos-'))
  readonly journal = join(this.folder, 'journal')
  readonly logFile = join(this.folder, 'server.log')
  readonly address: string
  /** How often it ended without having been told to: a handler killed it. */
  ownDeaths = 0
  starts = 0
  /** It does not start any more. */
  broken: Error | undefined
  readonly #port: number
  readonly #flags: readonly string[]
  readonly #log: WriteStream = createWriteStream(this.logFile, { flags: 'a' })
  #process: ChildProcess | undefined
  #starting: Promise<void> | undefined
  #isOver = false

  private constructor(port: number, flags: readonly string[]) {
    this.#port = port
    this.#flags = flags
    this.address = `127.0.0.1:${port}`
    process.once('exit', () => this.#process?.kill('SIGKILL'))
  }

  static async start(flags: readonly string[]): Promise<Victim> {
    const victim = new Victim(await freePort(), flags)
    await victim.start()
    return victim
  }

  get data(): string {
    return join(this.folder, 'data')
  }

  get pid(): number {
    const pid = this.#process?.pid
    if (pid === undefined) throw new Error('no server runs')
    return pid
  }

  /** Starts it, unless it runs. Resolves when it listens. */
  start(): Promise<void> {
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined))
    return this.#starting
  }

  async kill(): Promise<void> {
    const dying = this.#process
    this.#process = undefined
    if (!dying || hasEnded(dying)) return
    const ended = once(dying, 'exit')
    dying.kill('SIGKILL')
    await ended
  }

  /** Ends it as an operator would. @returns its exit code; undefined when it had to be killed. */
  async stop(): Promise<number | undefined> {
    await this.#starting
    this.#isOver = true
    const ending = this.#process
    this.#process = undefined
    if (!ending || hasEnded(ending)) return undefined
    const ended = once(ending, 'exit') as Promise<[number | null]>
    ending.kill('SIGTERM')
    const limit = setTimeout(() => ending.kill('SIGKILL'), STOP_LIMIT_MS)
    const [code] = await ended
    clearTimeout(limit)
    return code ?? undefined
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(signal)
  }

  /** No file of it may grow beyond this; undefined: any may. */
  limitFileSize(bytes: number | undefined): void {
    if (!this.#process?.pid || hasEnded(this.#process)) return
    const limit = bytes === undefined ? 'unlimited' : String(bytes)
    execFileSync('prlimit', ['--pid', String(this.#process.pid), `--fsize=${limit}:unlimited`])
  }

  async remove(): Promise<void> {
    await this.kill()
    this.#log.end()
    await rm(this.folder, { recursive: true, force: true })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.remove()
  }

  async #start(): Promise<void> {
    if (this.#process && !hasEnded(this.#process)) return
    const args = ['serve', '--listen', this.address, '--data', this.data, '--handlers', HANDLERS]
    const started = spawn(
      process.execPath,
      ['dist/cli/main.js', ...args, '--handler-env', 'CHAOS_JOURNAL', ...this.#flags],
      { env: { ...process.env, CHAOS_JOURNAL: this.journal }, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    this.starts++
    this.#process = started
    started.stderr.pipe(this.#log, { end: false })
    started.once('exit', () => void this.#diedByItself(started))
    const since = performance.now()
    while (!(await listens(this.#port))) {
      // it may have died by its own handler again: whoever noticed that starts it anew
      if (hasEnded(started) && started.signalCode !== null) return
      if (hasEnded(started) || performance.now() - since > START_LIMIT_MS)
        throw new Error(`the server does not start: see ${this.logFile}`)
      await sleep(20)
    }
  }

  async #diedByItself(died: ChildProcess): Promise<void> {
    if (this.#process !== died || this.#isOver) return
    this.ownDeaths++
    try {
      await this.#starting
      await this.start()
    } catch (error) {
      this.broken = error as Error
    }
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

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
