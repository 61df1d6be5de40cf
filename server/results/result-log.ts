import { Turns } from '../clock/turns.js'
import type { LogEntry, LogFilter, LogPosition, TaskStore } from '../store/task-store.js'
import { SchedulerError } from '../task/errors.js'
import type { Instant } from '../task/instant.js'
import { fromCursor, logReplaced, toCursor } from './cursor.js'
import { LogTail } from './log-tail.js'
import { ResultReader } from './result-reader.js'
import { ResultWaits } from './result-waits.js'

/** Where to start to read. */
export type LogStart =
  | { readonly kind: 'after'; readonly cursor: string }
  | { readonly kind: 'since'; readonly time: Instant }
  | { readonly kind: 'earliest' }
  | { readonly kind: 'latest' }

/**
 * The record: every result once, numbered in commit order, to be read again and again, then live.
 *
 * @example
 * const log = await ResultLog.open(store, recovery.logId)
 * const reader = log.reader(await log.positionOf({ kind: 'earliest' }), filter)
 */
export class ResultLog {
  readonly logId: string
  readonly #store: TaskStore
  readonly #tail: LogTail
  readonly #waits = new ResultWaits()
  readonly #wakeUps = new Set<() => void>()
  readonly #turns = new Turns()
  readonly #stopListening: () => void

  private constructor(store: TaskStore, logId: string, latest: LogPosition, early: readonly LogEntry[][]) {
    this.#store = store
    this.logId = logId
    this.#tail = new LogTail(latest)
    for (const entries of early) this.#tail.append(entries)
    this.#stopListening = store.onLog((entries) => this.#committed(entries))
  }

  /** Begins to follow the log of an open store. */
  static async open(store: TaskStore, logId: string): Promise<ResultLog> {
    const early: LogEntry[][] = []
    const stop = store.onLog((entries) => early.push([...entries]))
    const { latest } = await store.stats()
    const log = new ResultLog(store, logId, latest, early)
    stop()
    return log
  }

  /** Position of the newest entry. */
  get latest(): LogPosition {
    return this.#tail.through
  }

  /** The cursor for a position. */
  cursor(position: LogPosition): string {
    return toCursor(this.logId, position)
  }

  /**
   * The position after which to read.
   *
   * @throws SchedulerError CURSOR_UNKNOWN, LOG_REPLACED (also for a place that this log has not reached), CURSOR_EXPIRED (with the earliest cursor).
   */
  async positionOf(start: LogStart): Promise<LogPosition> {
    if (start.kind === 'after') {
      const position = await this.reached(start.cursor)
      const { earliest } = await this.#store.stats()
      if (position < earliest) throw this.#expired(earliest)
      return position
    }
    if (start.kind === 'since') return this.#store.positionAt(start.time)
    return start.kind === 'latest' ? this.latest : (await this.#store.stats()).earliest
  }

  /**
   * The position of a cursor, whether or not what follows it is still kept.
   *
   * @throws SchedulerError CURSOR_UNKNOWN, LOG_REPLACED (also for a place that this log has not reached).
   */
  async reached(cursor: string): Promise<LogPosition> {
    const position = fromCursor(cursor, this.logId)
    // a reader may be ahead of what was told so far
    if (position > this.latest && position > (await this.#store.stats()).latest) {
      throw logReplaced(this.logId, 'the cursor lies beyond the end of the log')
    }
    return position
  }

  /** Reads after a position, in order, none skipped, none twice: from the store until it has caught up, then what is committed. */
  reader(after: LogPosition, filter: LogFilter): ResultReader {
    return new ResultReader(
      {
        store: this.#store,
        tail: this.#tail,
        turns: this.#turns,
        onCommit: (wake) => {
          this.#wakeUps.add(wake)
          return () => this.#wakeUps.delete(wake)
        },
        expired: (earliest) => this.#expired(earliest),
      },
      after,
      filter,
    )
  }

  /**
   * Waits for a result of a task that is committed from now on, as soon as this is called.
   *
   * @param run - Which run; undefined = any.
   * @param signal - Ends the wait.
   * @returns undefined when `signal` came first.
   */
  nextResult(taskId: string, run: number | undefined, signal: AbortSignal): Promise<LogEntry | undefined> {
    return this.#waits.wait(taskId, run, signal)
  }

  /** Follows the log no more. */
  close(): void {
    this.#stopListening()
  }

  #committed(entries: readonly LogEntry[]): void {
    this.#tail.append(entries)
    this.#waits.resolve(entries)
    for (const wake of this.#wakeUps) wake()
  }

  #expired(earliest: LogPosition): SchedulerError {
    return new SchedulerError(
      'CURSOR_EXPIRED',
      'results after this cursor are no longer kept: start at the earliest cursor (in the details), and count the gap as lost',
      { earliest_cursor: this.cursor(earliest) },
    )
  }
}
