import { randomUUID } from 'node:crypto'
import type { Connection } from './connection.js'

/** Single values that the store keeps. */
export class Meta {
  readonly #set
  readonly #get

  constructor(connection: Connection) {
    this.#set = connection.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)')
    this.#get = connection.prepare('SELECT value FROM meta WHERE key = ?')
  }

  /** Names this log: a restored or imported one has another name. */
  logId(): string {
    const known = this.#value('log_id')
    if (known !== undefined) return String(known)
    const logId = randomUUID().replaceAll('-', '').slice(0, 12)
    this.#set.run('log_id', logId)
    return logId
  }

  /** Whether the process before closed the store; a new store counts as closed. */
  get cleanStop(): boolean {
    return this.#value('clean_stop') !== 0
  }

  set cleanStop(isClean: boolean) {
    this.#set.run('clean_stop', isClean ? 1 : 0)
  }

  /** The first start id that nobody has got. */
  get nextStartId(): number {
    return Number(this.#value('next_start_id') ?? 1)
  }

  set nextStartId(next: number) {
    this.#set.run('next_start_id', next)
  }

  /** The first of `count` start ids that nobody else gets. */
  reserveStartIds(count: number): number {
    const first = this.nextStartId
    this.nextStartId = first + count
    return first
  }

  #value(key: string): string | number | undefined {
    return (this.#get.get(key) as { value: string | number } | undefined)?.value
  }
}
