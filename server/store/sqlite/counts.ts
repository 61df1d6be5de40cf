import type { TaskState } from '../../task/task.js'
import type { Instant } from '../../task/instant.js'
import type { LogPosition } from '../task-store.js'
import type { Connection } from './connection.js'
import { STATE_NUMBER } from './numbers.js'

/** A state's number, entries of the log that can be read, or bytes of all results that are kept. */
export type Counted = number | 'log' | 'logBytes'

interface Kept {
  readonly counts: Record<string, number>
  /** Number of the commit that wrote this. */
  commit: number
  /** What retention has removed: position and commit time of the newest entry of it. */
  floor: { position: LogPosition; commitTime: Instant }
  /** The largest arrival that was ever given. */
  arrival: number
  /** When the last insert or update was made, as its caller's clock said. */
  lastChange: Instant
}

const nothingYet = (): Kept => ({
  counts: {},
  commit: 0,
  floor: { position: 0, commitTime: 0 },
  arrival: 0,
  lastChange: 0,
})

/** Numbers that are kept in every transaction, so that nothing is ever counted by a scan. */
export class Counts {
  readonly #save
  readonly #load
  #kept: Kept

  constructor(connection: Connection) {
    this.#save = connection.prepare("INSERT OR REPLACE INTO meta VALUES ('counts', ?)")
    this.#load = connection.prepare("SELECT value FROM meta WHERE key = 'counts'")
    this.#kept = this.#stored()
  }

  add(what: Counted, difference: number): void {
    const { counts } = this.#kept
    counts[what] = (counts[what] ?? 0) + difference
  }

  get(what: Counted): number {
    return this.#kept.counts[what] ?? 0
  }

  byState(): Record<TaskState, number> {
    return Object.fromEntries(
      Object.entries(STATE_NUMBER).map(([state, number]) => [state, this.get(number)]),
    ) as Record<TaskState, number>
  }

  /** The newest commit that is on disk, or the one under way. */
  get commit(): number {
    return this.#kept.commit
  }

  /** Numbers the commit under way. */
  begin(): number {
    this.#kept.commit += 1
    return this.#kept.commit
  }

  get newestArrival(): number {
    return this.#kept.arrival
  }

  set newestArrival(arrival: number) {
    this.#kept.arrival = arrival
  }

  get lastChange(): Instant {
    return this.#kept.lastChange
  }

  set lastChange(now: Instant) {
    this.#kept.lastChange = now
  }

  get logFloor(): Readonly<Kept['floor']> {
    return this.#kept.floor
  }

  set logFloor(floor: Readonly<Kept['floor']>) {
    this.#kept.floor = floor
  }

  /** Part of the transaction under way. */
  flush(): void {
    this.#save.run(JSON.stringify(this.#kept))
  }

  /** After a rollback. */
  reload(): void {
    this.#kept = this.#stored()
  }

  #stored(): Kept {
    const row = this.#load.get() as { value: string } | undefined
    // what an older version did not keep yet has its beginning
    return { ...nothingYet(), ...(row && (JSON.parse(row.value) as Partial<Kept>)) }
  }
}
