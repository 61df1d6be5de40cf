import type { TaskState } from '../../task/task.js'
import type { Connection } from './connection.js'
import { STATE_NUMBER } from './numbers.js'

/** Tasks by state and entries of the log: kept in every transaction, so that stats never scan. */
export class Counts {
  readonly #save
  readonly #load
  #values: Record<string, number>
  #dirty = false

  constructor(connection: Connection) {
    this.#save = connection.prepare("INSERT OR REPLACE INTO meta VALUES ('counts', ?)")
    this.#load = connection.prepare("SELECT value FROM meta WHERE key = 'counts'")
    this.#values = this.#stored()
  }

  /** `what`: a state's number, or 'log'. */
  add(what: number | 'log', difference: number): void {
    this.#values[what] = (this.#values[what] ?? 0) + difference
    this.#dirty = true
  }

  get(what: number | 'log'): number {
    return this.#values[what] ?? 0
  }

  byState(): Record<TaskState, number> {
    return Object.fromEntries(
      Object.entries(STATE_NUMBER).map(([state, number]) => [state, this.get(number)]),
    ) as Record<TaskState, number>
  }

  /** Writes what has changed; part of the transaction under way. */
  flush(): void {
    if (!this.#dirty) return
    this.#save.run(JSON.stringify(this.#values))
    this.#dirty = false
  }

  /** After a rollback. */
  reload(): void {
    this.#values = this.#stored()
    this.#dirty = false
  }

  #stored(): Record<string, number> {
    const row = this.#load.get() as { value: string } | undefined
    return row ? (JSON.parse(row.value) as Record<string, number>) : {}
  }
}
