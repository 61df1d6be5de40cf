import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { Command, CommanderError } from 'commander'
import pc from 'picocolors'
import { createClient, type ClientOptions, type SchedulerClient } from '../../client/index.js'
import { registerCommands } from '../../cli/commands/index.js'
import type { Terminal } from '../../cli/terminal.js'
import type { FakeService } from './fake-service.js'
import { ManualClock } from './manual-clock.js'

/** A terminal that keeps what is written to it. Its clock stands at 2030-01-01T00:00:00Z. */
export class FakeTerminal implements Terminal {
  readonly out: string[] = []
  readonly err: string[] = []
  readonly blocks: string[] = []
  readonly files = new Map<string, string>()
  /** The client's. */
  readonly clock = new ManualClock()
  readonly colours = pc.createColors(false)
  /** What `write` was given. */
  written = ''
  readonly progress: string[] = []
  isProgressSeen = false
  isProgressHidden = false
  columns = 120
  isTerminal = false
  stdin = ''
  exitCode: number | undefined
  /** Called at each sleep: what a test does in between. */
  onSleep: (ms: number) => void = () => {}
  #interrupt: () => void = () => {}
  readonly #watchers: (() => void)[] = []

  say(line: string): void {
    this.out.push(line)
    for (const watcher of this.#watchers.splice(0)) watcher()
  }

  /** Resolves when that many lines have been printed. */
  async said(lines: number): Promise<void> {
    while (this.out.length < lines) await new Promise<void>((resolve) => this.#watchers.push(resolve))
  }

  complain(line: string): void {
    this.err.push(line)
  }

  redraw(block: string): void {
    this.blocks.push(block)
  }

  async write(text: string): Promise<void> {
    this.written += text
  }

  showProgress(line: string): void {
    this.progress.push(line)
  }

  hideProgress(): void {
    this.isProgressHidden = true
  }

  readonly now = (): number => Date.UTC(2030, 0, 1)

  async sleep(ms: number): Promise<void> {
    this.onSleep(ms)
  }

  readStdin(): Promise<string> {
    return Promise.resolve(this.stdin)
  }

  openBytes(path: string): { chunks: AsyncIterable<Uint8Array>; size: number | undefined } {
    const bytes = path === '-' ? Buffer.from(this.stdin) : readFileSync(path)
    return { chunks: Readable.from([bytes]), size: path === '-' ? undefined : bytes.length }
  }

  readFile(path: string): Buffer {
    const text = this.files.get(path)
    if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`)
    return Buffer.from(text)
  }

  writeFile(path: string, bytes: Uint8Array): void {
    if (path.startsWith('/read-only')) throw new Error(`EROFS: read-only file system, open '${path}'`)
    this.files.set(path, Buffer.from(bytes).toString())
  }

  onInterrupt(listener: () => void): () => void {
    this.#interrupt = listener
    return () => {}
  }

  /** Ctrl-C. */
  interrupt(): void {
    this.#interrupt()
  }

  setExitCode(code: number): void {
    this.exitCode = code
  }

  connect(options: ClientOptions): SchedulerClient {
    return createClient({ ...options, clock: this.clock, random: () => 1 })
  }
}

/** Runs a command as it would be typed, without the address; the exit code as the process would have it. */
export async function runCommand(
  words: readonly string[],
  { terminal = new FakeTerminal(), service }: { terminal?: FakeTerminal; service?: FakeService } = {},
): Promise<FakeTerminal> {
  const program = new Command('punctual').exitOverride((error) => {
    throw error
  })
  program.configureOutput({
    writeOut: (text) => terminal.say(text.trimEnd()),
    writeErr: (text) => terminal.complain(text.trimEnd()),
  })
  registerCommands(program, terminal)
  const address = service === undefined ? [] : ['--address', service.address]
  try {
    await program.parseAsync([...words, ...address], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // as cli/main.ts has it
    terminal.setExitCode(error.exitCode === 0 ? 0 : 2)
  }
  return terminal
}
