import {
  type LogEntry,
  type LogFilter,
  type LogPage,
  type LogPosition,
  matches,
  type TaskStore,
} from '../store/task-store.js'
import type { Turns } from '../clock/turns.js'
import type { SchedulerError } from '../task/errors.js'
import type { LogTail } from './log-tail.js'

const MAX_ENTRIES = 1_000
const MAX_BYTES = 1024 * 1024

/** What a reader needs of its log. */
export interface ReaderSource {
  readonly store: Pick<TaskStore, 'readLog' | 'stats'>
  readonly tail: LogTail
  /** Several readers that catch up take turns, so that their pages do not hold up what else the server is asked. */
  readonly turns: Turns
  /** Calls back after each commit that the tail holds; returns the way to stop. */
  readonly onCommit: (wake: () => void) => () => void
  /** The error of a reader whose place is no longer kept. */
  readonly expired: (earliest: LogPosition) => SchedulerError
}

/** One reading of the log, at the pace of whoever asks: it holds a position, no entries and no transaction. */
export class ResultReader {
  readonly #source: ReaderSource
  readonly #filter: LogFilter
  readonly #wanted: (entry: LogEntry) => boolean
  #position: LogPosition

  constructor(source: ReaderSource, after: LogPosition, filter: LogFilter) {
    this.#source = source
    this.#filter = filter
    this.#wanted = (entry) => matches(filter, entry)
    this.#position = after
  }

  /** Everything up to here was read. */
  get position(): LogPosition {
    return this.#position
  }

  /** Nothing more is in the log at this moment. */
  get isCaughtUp(): boolean {
    return this.#position >= this.#source.tail.through
  }

  /**
   * The next entries that the filter lets through, about 1 MiB at most. May be empty although the position moved.
   *
   * @throws SchedulerError CURSOR_EXPIRED when what comes next is no longer kept.
   */
  async read(): Promise<readonly LogEntry[]> {
    const page = this.#source.tail.reaches(this.#position)
      ? this.#readTail()
      : await this.#source.turns.take(() => this.#readStore())
    this.#position = Math.max(this.#position, page.through)
    return page.entries
  }

  /** Resolves when there is more to read, or when `signal` is aborted. */
  async more(signal: AbortSignal): Promise<void> {
    if (!this.isCaughtUp || signal.aborted) return
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stop()
        signal.removeEventListener('abort', done)
        resolve()
      }
      const stop = this.#source.onCommit(() => {
        if (!this.isCaughtUp) done()
      })
      signal.addEventListener('abort', done)
    })
  }

  #readTail(): LogPage {
    return this.#source.tail.read(this.#position, this.#wanted, MAX_ENTRIES, MAX_BYTES)
  }

  async #readStore(): Promise<LogPage> {
    const { store } = this.#source
    const page = await store.readLog({
      after: this.#position,
      filter: this.#filter,
      maxEntries: MAX_ENTRIES,
      maxBytes: MAX_BYTES,
    })
    // asked afterwards: what retention removed while this was read would be a hole in it
    const { earliest } = await store.stats()
    if (earliest > this.#position) throw this.#source.expired(earliest)
    return page
  }
}
