import type { SpanRecord } from '../task/span-record.js'
import type { OwnOutcome } from './run-attempt.js'

/** What a thread is given when it starts; plain data. */
export interface ThreadSettings {
  /** File URLs of the handlers modules. */
  readonly modules: readonly string[]
  readonly maxOutputBytes: number
  /** Attempts overlap: the lane `shared`. */
  readonly shared: boolean
  /** File URL of a module that exports `instrument: Instrument`; '' = none. */
  readonly instrumentation: string
}

/** To a thread: attempts (see `burst-message`), or word that one shall stop. */
export type ToThread = readonly unknown[] | StopMessage

export interface StopMessage {
  readonly kind: 'stop'
  readonly startId: number
}

/** Instead of a message with content: the ledger has news. */
export const LOOK = 0

/** From a thread. */
export type FromThread =
  | typeof LOOK
  | HelloMessage
  | EndedMessage
  | LogMessage
  | SpansMessage
  | TaintedMessage

/** The handlers are loaded. */
export interface HelloMessage {
  readonly kind: 'hello'
}

/** An outcome too large for the ledger. */
export interface EndedMessage {
  readonly kind: 'ended'
  readonly startId: number
  readonly outcome: OwnOutcome
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** A line of a handler, or of the thread itself. Cut, and without control characters. */
export interface LogMessage {
  readonly kind: 'log'
  readonly level: LogLevel
  readonly message: string
  readonly facts: Readonly<Record<string, string | number | boolean>>
}

/** Spans that ended in the thread. */
export interface SpansMessage {
  readonly kind: 'spans'
  readonly spans: readonly SpanRecord[]
}

/** Something went wrong outside any attempt: the thread begins nothing more and is to be replaced. */
export interface TaintedMessage {
  readonly kind: 'tainted'
  readonly why: string
}
