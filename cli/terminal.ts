import { once } from 'node:events'
import { createReadStream, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { createLogUpdate } from 'log-update'
import pc from 'picocolors'
import { type ClientOptions, createClient, type SchedulerClient } from '../client/index.js'

export type Colours = ReturnType<typeof pc.createColors>

/** What a command touches of the outside world; a test brings its own. */
export interface Terminal {
  /** A person reads: colours, tables, relative times. */
  readonly isTerminal: boolean
  /** Width in characters. */
  readonly columns: number
  readonly colours: Colours
  /** A line on stdout. */
  say(line: string): void
  /** A line on stderr. */
  complain(line: string): void
  /** Puts a block of text in the place of the last one. */
  redraw(block: string): void
  /** Text on stdout as it is; resolves when the reader has room for more. */
  write(text: string): Promise<void>
  /** A person sees stderr, whatever becomes of stdout. */
  readonly isProgressSeen: boolean
  /** Puts a line on stderr in the place of the last one; it is gone when something is said, and at the end. */
  showProgress(line: string): void
  hideProgress(): void
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Resolves after that long, or at once when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  readStdin(): Promise<string>
  /** The bytes of a file, or of stdin for `-`, and how many there are, if that is known. @throws when it cannot be read. */
  openBytes(path: string): { readonly chunks: AsyncIterable<Uint8Array>; readonly size: number | undefined }
  /** @throws when it cannot be read. */
  readFile(path: string): Buffer
  /** Writes a file, and makes the folders that it lies in. @throws when it cannot. */
  writeFile(path: string, bytes: Uint8Array): void
  /** Calls back at the first SIGINT or SIGTERM; a second ends the process. Returns how to stop listening. */
  onInterrupt(listener: () => void): () => void
  /** How the process is to end. */
  setExitCode(code: number): void
  connect(options: ClientOptions): SchedulerClient
}

/** The process's own terminal. */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process
  // not stdout.isTTY: undefined on a pipe, for which picocolors would look at the environment
  const isTerminal = isatty(stdout.fd)
  const update = createLogUpdate(stdout)
  const bar = createLogUpdate(stderr)
  let isBarThere = false
  const hideProgress = (): void => {
    if (isBarThere) bar.clear()
    isBarThere = false
  }
  // `punctual results | head`: the reader has left, which is no fault
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit()
    throw error
  })
  return {
    isTerminal,
    get columns() {
      return stdout.columns ?? 120
    },
    colours: pc.createColors(isTerminal && pc.isColorSupported),
    say(line) {
      hideProgress()
      stdout.write(`${line}\n`)
    },
    complain(line) {
      hideProgress()
      stderr.write(`${line}\n`)
    },
    redraw: (block) => update(block),
    async write(text) {
      if (!stdout.write(text)) await once(stdout, 'drain')
    },
    isProgressSeen: isatty(stderr.fd),
    showProgress(line) {
      isBarThere = true
      bar(line)
    },
    hideProgress,
    now: () => Date.now(),
    sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
    readStdin: () => textOf(process.stdin),
    openBytes: (path) =>
      path === '-'
        ? { chunks: process.stdin, size: undefined }
        : { size: statSync(path).size, chunks: createReadStream(path, { highWaterMark: 1024 * 1024 }) },
    readFile: (path) => readFileSync(path),
    writeFile(path, bytes) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, bytes)
    },
    onInterrupt(listener) {
      const first = (): void => {
        forget()
        listener()
      }
      const forget = (): void => {
        process.off('SIGINT', first)
        process.off('SIGTERM', first)
      }
      process.on('SIGINT', first)
      process.on('SIGTERM', first)
      return forget
    },
    setExitCode(code) {
      process.exitCode = code
    },
    connect: (options) => createClient(options),
  }
}
