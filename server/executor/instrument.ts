import type { SpanRecord } from '../task/span-record.js'
import type { ThreadAttempt } from './burst-message.js'

/** Telemetry inside a thread. The executor knows only this much of it. */
export interface ThreadInstrumentation {
  /** Calls `run`, with the attempt's trace context active in it and in what it starts. */
  around<T>(attempt: ThreadAttempt, run: () => T): T
}

/** Where finished spans go: to the main thread, as data, at once: what a thread holds back is lost with it. */
export type SendSpans = (spans: readonly SpanRecord[]) => void

/** What an instrumentation module exports as `instrument`; called once in each thread, before its first attempt. */
export type Instrument = (sendSpans: SendSpans) => ThreadInstrumentation
