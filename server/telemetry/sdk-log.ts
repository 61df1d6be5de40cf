import { type DiagLogger, diag, DiagLogLevel } from '@opentelemetry/api'
import type { Clock } from '../clock.js'
import type { Log } from '../task/log.js'
import { loggable } from './loggable.js'

const LEVELS: Readonly<Record<string, DiagLogLevel>> = {
  none: DiagLogLevel.NONE,
  error: DiagLogLevel.ERROR,
  warn: DiagLogLevel.WARN,
  info: DiagLogLevel.INFO,
  debug: DiagLogLevel.DEBUG,
  verbose: DiagLogLevel.VERBOSE,
  all: DiagLogLevel.ALL,
}

const MAX_TEXT = 2_000

/** While a collector is down every batch fails: once a minute says it all. */
const QUIET_MS = 60_000

/** Lets the SDK speak through the server's log. Errors and warnings come at most once a minute each, with the number of those held back. */
export function logTheSdk(log: Log, clock: Clock, level: string): void {
  const sparing = (at: 'warn' | 'error', message: string) => {
    let heldBack = 0
    let quietUntil = Number.NEGATIVE_INFINITY
    return (...words: unknown[]): void => {
      const now = clock.steady()
      if (now < quietUntil) return void heldBack++
      log[at](message, { says: words.map(textOf).join(' '), heldBack })
      heldBack = 0
      quietUntil = now + QUIET_MS
    }
  }
  const logger: DiagLogger = {
    error: sparing('error', 'telemetry has a problem'),
    warn: sparing('warn', 'telemetry warns'),
    info: (...words) => log.info('telemetry', { says: words.map(textOf).join(' ') }),
    debug: (...words) => log.debug('telemetry', { says: words.map(textOf).join(' ') }),
    verbose: (...words) => log.debug('telemetry', { says: words.map(textOf).join(' ') }),
  }
  diag.setLogger(logger, { logLevel: LEVELS[level] ?? DiagLogLevel.WARN, suppressOverrideMessage: true })
}

function textOf(word: unknown): string {
  if (typeof word === 'string') return word
  if (word instanceof Error) return word.message
  // At debug the SDK hands over its own objects, which hold themselves.
  return (JSON.stringify(loggable(word)) ?? String(word)).slice(0, MAX_TEXT)
}
