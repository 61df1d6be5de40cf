import { type Stats, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { type SchedulerError, StoreUnavailableError } from '../../task/errors.js'
import type { Connection } from './connection.js'
import { storeFull } from './store-trouble.js'

/** The room that a store takes and has, and whether its files are where they were. */
export class StoreRoom {
  readonly #file: string
  readonly #reserve: number
  readonly #pageCount
  readonly #freePages
  readonly #pageSize: number
  readonly #files = new Map<string, Pick<Stats, 'ino' | 'dev'>>()

  /** @param file - '' = in memory. @param reserve - Bytes of the disk that new tasks leave free, so that what is running can still be ended and stored. */
  constructor(connection: Connection, file: string, reserve: number) {
    this.#file = file
    this.#reserve = reserve
    this.#pageCount = connection.prepare('PRAGMA page_count')
    this.#freePages = connection.prepare('PRAGMA freelist_count')
    this.#pageSize = (connection.prepare('PRAGMA page_size').get() as { page_size: number }).page_size
    if (file !== '') for (const name of [file, `${file}-wal`]) this.#files.set(name, statSync(name))
  }

  /** Bytes in use: what was freed is used again before the file grows. */
  bytes(): number {
    const { page_count: all } = this.#pageCount.get() as { page_count: number }
    const { freelist_count: free } = this.#freePages.get() as { freelist_count: number }
    const wal = this.#file === '' ? 0 : (statSync(`${this.#file}-wal`, { throwIfNoEntry: false })?.size ?? 0)
    return (all - free) * this.#pageSize + wal
  }

  /** Why there is no room for new tasks, if there is none. */
  fullness(): SchedulerError | undefined {
    if (this.#file === '' || this.#reserve === 0) return undefined
    const folder = dirname(this.#file)
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize >= this.#reserve) return undefined
    return storeFull(`the disk of ${folder} has less than ${this.#reserve} bytes left`)
  }

  /**
   * Whether the files are still those that were opened. SQLite would go on in files that have been removed, and everything would be lost at the end.
   *
   * @throws StoreUnavailableError
   */
  mustBeThere(): void {
    for (const [name, { ino, dev }] of this.#files) {
      const found = statSync(name, { throwIfNoEntry: false })
      if (!found) throw new StoreUnavailableError(`${name} has been removed: put it back`)
      if (found.ino !== ino || found.dev !== dev)
        throw new StoreUnavailableError(`${name} has been replaced: restart the server to use the new one`)
    }
  }
}
