import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const COMMAND_LIMIT_MS = 180_000
const SERVER_LIMIT_MS = 30_000
/** Longer than a server's drain may take. */
const STOP_LIMIT_MS = 40_000

/** A person at a terminal, and the one beside it where the server runs: commands one after another, each where the last one left off. */
export class ShellTerminal {
  #folder: string
  readonly #scratch = mkdtempSync(join(tmpdir(), 'terminal-'))
  #server: ChildProcess | undefined
  readonly #serverFolder: string

  constructor(folder: string) {
    this.#folder = folder
    this.#serverFolder = folder
  }

  /** Where the next commands run. */
  get folder(): string {
    return this.#folder
  }

  /** Is it a program that can be called by its name? */
  hasProgram(name: string): boolean {
    return spawnSync('bash', ['-c', 'command -v -- "$1"', 'bash', name]).status === 0
  }

  /**
   * Runs commands; what they print, which is shown too.
   *
   * @param forSeconds - Ends them by Ctrl-C after so long.
   * @throws when they do not end with 0.
   */
  async run(commands: string, forSeconds?: number): Promise<string> {
    const folderFile = join(this.#scratch, 'folder')
    const script = `set -euo pipefail\n${commands}\npwd >'${folderFile}'\n`
    const process = this.#start(script, this.#folder)
    const output = collect(process)
    const limit = setTimeout(() => signal(process, 'SIGKILL'), COMMAND_LIMIT_MS)
    const end = forSeconds && setTimeout(() => signal(process, 'SIGINT'), forSeconds * 1_000)
    const [code, by] = (await once(process, 'close')) as [number | null, string | null]
    clearTimeout(limit)
    clearTimeout(end)
    if (code !== 0) throw new Error(`ended with ${code ?? by}`)
    this.#folder = readFileSync(folderFile, 'utf8').trim()
    return output()
  }

  /** Starts a server in the other terminal, after ending the one there; resolves once it listens at the port. */
  async serve(commands: string, port: number): Promise<void> {
    await this.#stopServer()
    const server = this.#start(`set -euo pipefail\n${commands}`, this.#serverFolder)
    collect(server)
    this.#server = server
    const since = performance.now()
    while (!(await listens(port))) {
      if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`)
      if (performance.now() - since > SERVER_LIMIT_MS) throw new Error(`nobody listens at port ${port}`)
      await sleep(100)
    }
  }

  async close(): Promise<void> {
    await this.#stopServer()
    rmSync(this.#scratch, { recursive: true })
  }

  async #stopServer(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined || server.exitCode !== null) return
    const limit = setTimeout(() => signal(server, 'SIGKILL'), STOP_LIMIT_MS)
    signal(server, 'SIGINT')
    const [code, by] = (await once(server, 'close')) as [number | null, string | null]
    clearTimeout(limit)
    // a shell whose command was ended by Ctrl-C says so; that a server itself ends with 0 is shown elsewhere
    if (code !== 0 && by !== 'SIGINT') throw new Error(`the server ended with ${code ?? by}`)
  }

  /** In a process group of its own, so that a signal reaches all, as Ctrl-C does; with data of its own, so that nobody's is touched. */
  #start(script: string, folder: string): ChildProcess {
    return spawn('bash', ['-c', script], {
      cwd: folder,
      env: { ...process.env, PUNCTUAL_DATA: join(this.#scratch, 'data') },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
}

function collect(child: ChildProcess): () => string {
  let output = ''
  for (const [stream, terminal] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      terminal.write(chunk)
    })
  }
  return () => output
}

function signal(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null) return
  try {
    process.kill(-child.pid, name)
  } catch (error) {
    // it ended by itself in between
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
