import { trace } from '@opentelemetry/api'
import { type DestinationStream, pino } from 'pino'
import type { Log, LogFacts } from '../task/log.js'
import { loggable } from './loggable.js'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** What is never more than this many characters waits to be written when whoever reads stderr is slow; more is dropped. */
const MAX_WAITING = 4 * 1024 * 1024

/**
 * Writes JSON lines: `level`, `time`, `msg`, `trace_id` and `span_id` where there is a trace, then the facts. One event is one line whatever texts it holds;
 * payloads and credentials are left out. What was written is flushed when the process exits.
 *
 * @param level - The least that is written.
 * @param destination - Where to; the default is stderr, written beside the event loop, so that a slow reader delays no task.
 * @example createLogger('info').warn('the store was slow', { durationMs: 1_200 })
 */
export function createLogger(level: LogLevel, destination: DestinationStream = stderr()): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: activeTrace,
      hooks: { streamWrite: escapeControls },
    },
    destination,
  )
  const write =
    (at: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, facts: LogFacts = {}): void => {
      if (logger.isLevelEnabled(at)) logger[at](loggable(lineFacts(facts)), message)
    }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

function stderr(): DestinationStream {
  const stream = pino.destination({ dest: 2, sync: false, maxLength: MAX_WAITING })
  // Nobody reads stderr any more: there is no one left to tell.
  stream.on('error', () => {})
  return stream
}

function activeTrace(): object {
  const context = trace.getActiveSpan()?.spanContext()
  if (context === undefined || !trace.isSpanContextValid(context)) return {}
  return { trace_id: context.traceId, span_id: context.spanId }
}

/** The fields of the line itself stay its own: a fact of that name is moved aside. A task's trace context shows as the trace that it names. */
function lineFacts(facts: LogFacts): Record<string, unknown> {
  const { traceparent, ...others } = facts
  const line: Record<string, unknown> = {}
  if (typeof traceparent === 'string') line['trace_id'] = traceparent.slice(3, 35)
  for (const [key, value] of Object.entries(others)) line[OWN.has(key) ? `${key}_` : key] = value
  return line
}

const OWN = new Set(['level', 'time', 'msg'])

// JSON escapes the controls below 0x20; a terminal also obeys those from 0x7f to 0x9f, and some viewers break lines at U+2028 or turn text around.
const UNSAFE = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

function escapeControls(line: string): string {
  return line.replace(UNSAFE, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
