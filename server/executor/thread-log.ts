import { inspect } from 'node:util'
import type { Log, LogFacts } from '../task/log.js'
import { cutText } from './cut-text.js'
import type { LogLevel, LogMessage } from './thread-protocol.js'

const MAX_MESSAGE_BYTES = 2_048
const MAX_FACTS = 16
const MAX_FACT_BYTES = 1_024
/** Lines that a thread may write at once, and again for each second that passes: a handler's flood must not become the server's. */
const BURST_LINES = 500
const LINES_PER_SECOND = 100

type Facts = Record<string, string | number | boolean>

/** The lines of one thread, on their way to the server's log: cut, counted, without control characters. */
export class ThreadLog {
  readonly #send: (line: LogMessage) => void
  readonly #now: () => number
  #allowed = BURST_LINES
  #refilled: number
  #dropped = 0

  /** @param steady - Milliseconds of the steady clock. */
  constructor(send: (line: LogMessage) => void, steady: () => number) {
    this.#send = send
    this.#now = steady
    this.#refilled = steady()
  }

  write(level: LogLevel, message: string, given: LogFacts, own: Facts): void {
    if (!this.#mayWrite()) {
      this.#dropped++
      return
    }
    const facts: Facts = { ...plainFacts(given), ...own }
    if (this.#dropped > 0) facts['linesDropped'] = this.#dropped
    this.#dropped = 0
    this.#send({ kind: 'log', level, message: harmless(message, MAX_MESSAGE_BYTES), facts })
  }

  /** A logger whose lines carry `own` facts. */
  for(own: Facts): Log {
    const at =
      (level: LogLevel) =>
      (message: string, facts: LogFacts = {}) =>
        this.write(level, message, facts, own)
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  }

  #mayWrite(): boolean {
    const now = this.#now()
    const earned = Math.floor(((now - this.#refilled) / 1_000) * LINES_PER_SECOND)
    if (earned > 0) {
      this.#allowed = Math.min(BURST_LINES, this.#allowed + earned)
      this.#refilled = now
    }
    if (this.#allowed === 0) return false
    this.#allowed--
    return true
  }
}

/** Facts that any thread and any log can take; what is no plain value becomes text. */
function plainFacts(given: unknown): Facts {
  const facts: Facts = {}
  if (typeof given !== 'object' || given === null) return given === undefined ? facts : { value: text(given) }
  for (const [key, value] of Object.entries(given).slice(0, MAX_FACTS) as [string, unknown][])
    facts[harmless(key, 64)] = typeof value === 'number' || typeof value === 'boolean' ? value : text(value)
  return facts
}

function text(value: unknown): string {
  return harmless(typeof value === 'string' ? value : shown(value), MAX_FACT_BYTES)
}

function shown(value: unknown): string {
  try {
    return inspect(value, {
      depth: 3,
      maxArrayLength: 20,
      maxStringLength: MAX_FACT_BYTES,
      breakLength: Infinity,
    })
  } catch {
    return 'a value that cannot be read'
  }
}

// A line break would forge a line, an escape sequence would move a reader's terminal.
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g

/** @returns `message` cut, with control characters as text, such as \n or \u001b. */
function harmless(message: unknown, maxBytes: number): string {
  const cut = cutText(String(message), maxBytes)
  return cut.replace(CONTROL, (found) =>
    found === '\n'
      ? '\\n'
      : found === '\t'
        ? '\\t'
        : `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
