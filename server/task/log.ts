/** What goes with a message. Never payloads, never credentials; `error` holds the error itself. */
export type LogFacts = Readonly<Record<string, unknown>>

/** Where a part says what happened, for the people who run the server. Messages are constant texts; what varies is a fact. */
export interface Log {
  /** For finding out: off by default. */
  debug(message: string, facts?: LogFacts): void
  /** Something happened that an operator wants to know later. */
  info(message: string, facts?: LogFacts): void
  /** Something is not as it should be; the server copes. */
  warn(message: string, facts?: LogFacts): void
  /** Something was lost or refused that should not have been. */
  error(message: string, facts?: LogFacts): void
}

/** Says nothing: for tests and for parts that are used alone. */
export const SILENT: Log = Object.freeze({ debug() {}, info() {}, warn() {}, error() {} })
