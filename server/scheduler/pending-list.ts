import type { Instant } from '../task/instant.js'
import type { PendingTasks } from './pending-tasks.js'

interface Entry {
  readonly place: number
  readonly dueTime: Instant
  readonly arrival: number
}

/** A plain list that is looked through from one end to the other, as the simplest schedulers do it: every question costs O(n). */
export class PendingList implements PendingTasks {
  readonly #entries: Entry[] = []

  get size(): number {
    return this.#entries.length
  }

  get earliest(): Instant {
    return this.#entries[this.#first()]?.dueTime ?? Infinity
  }

  add(place: number, dueTime: Instant, arrival: number): void {
    this.#entries.push({ place, dueTime, arrival })
  }

  remove(place: number): boolean {
    const index = this.#entries.findIndex((entry) => entry.place === place)
    if (index >= 0) this.#entries.splice(index, 1)
    return index >= 0
  }

  takeDue(now: Instant): number {
    const index = this.#first()
    const entry = this.#entries[index]
    if (!entry || entry.dueTime > now) return -1
    this.#entries.splice(index, 1)
    return entry.place
  }

  /** Index of the entry that comes first; -1 when empty. */
  #first(): number {
    let first: Entry | undefined
    let index = -1
    this.#entries.forEach((entry, i) => {
      if (!first || isBefore(entry, first)) {
        first = entry
        index = i
      }
    })
    return index
  }
}

const isBefore = (a: Entry, b: Entry): boolean =>
  a.dueTime < b.dueTime || (a.dueTime === b.dueTime && a.arrival < b.arrival)
