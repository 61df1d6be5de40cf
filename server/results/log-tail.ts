import type { LogEntry, LogPage, LogPosition } from '../store/task-store.js'

/** Bytes of entries that are kept; up to twice this for a moment. */
const KEPT_BYTES = 4 * 1024 * 1024
/** What an entry takes beside its bytes, roughly. */
const ENTRY_OVERHEAD = 200

/**
 * The newest entries of the log, in memory, once for all readers: one that keeps up is served from here and costs the store nothing; one that falls behind reads from the
 * store until it has caught up. So no reader has a buffer of its own.
 */
export class LogTail {
  #entries: LogEntry[] = []
  #bytes = 0
  #from: LogPosition
  #through: LogPosition

  /** @param latest - Position of the newest entry at this moment. */
  constructor(latest: LogPosition) {
    this.#from = latest
    this.#through = latest
  }

  /** Position of the newest entry. */
  get through(): LogPosition {
    return this.#through
  }

  /** Whether everything after `position` is here. */
  reaches(position: LogPosition): boolean {
    return position >= this.#from
  }

  /** Adds what was committed, in order. */
  append(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      // what was there already when the tail was begun
      if (entry.position <= this.#through) continue
      this.#entries.push(entry)
      this.#bytes += entry.bytes.byteLength + ENTRY_OVERHEAD
      this.#through = entry.position
    }
    if (this.#bytes > 2 * KEPT_BYTES) this.#forget()
  }

  /** Entries after `position` that `wanted` lets through; `position` must be within reach. */
  read(
    position: LogPosition,
    wanted: (entry: LogEntry) => boolean,
    maxEntries: number,
    maxBytes: number,
  ): LogPage {
    const page: LogEntry[] = []
    let bytes = 0
    let through = position
    for (let i = this.#indexAfter(position); i < this.#entries.length; i++) {
      const entry = this.#entries[i]
      if (!entry) break
      if (wanted(entry)) {
        if (page.length > 0 && (page.length === maxEntries || bytes + entry.bytes.byteLength > maxBytes))
          break
        page.push(entry)
        bytes += entry.bytes.byteLength
      }
      through = entry.position
    }
    return { entries: page, through }
  }

  /** Drops the oldest; seldom, for it moves what stays. */
  #forget(): void {
    let dropped = 0
    while (this.#bytes > KEPT_BYTES) {
      const entry = this.#entries[dropped]
      if (!entry) break
      this.#bytes -= entry.bytes.byteLength + ENTRY_OVERHEAD
      this.#from = entry.position
      dropped += 1
    }
    this.#entries = this.#entries.slice(dropped)
  }

  /** Index of the first entry after `position`, by halving. */
  #indexAfter(position: LogPosition): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#entries[middle]?.position ?? 0) > position) high = middle
      else low = middle + 1
    }
    return low
  }
}
