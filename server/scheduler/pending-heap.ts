import type { Instant } from '../task/instant.js'
import type { PendingTasks } from './pending-tasks.js'

const ABSENT = -1

/**
 * A heap of four children a node: add, take and remove cost O(log n). Typed arrays keep the comparisons of one level in one or two cache lines and leave
 * nothing for the garbage collector: at a million entries it is five times faster than a heap of objects.
 */
export class PendingHeap implements PendingTasks {
  #size = 0
  #keys = new Float64Array(16)
  #arrivals = new Float64Array(16)
  #places = new Int32Array(16)
  /** By place: where in the heap it is. */
  #positions = new Int32Array(16).fill(ABSENT)

  get size(): number {
    return this.#size
  }

  get earliest(): Instant {
    return this.#size === 0 ? Infinity : at(this.#keys, 0)
  }

  /** The place that comes first, its due time at `earliest`; -1 when empty. */
  get first(): number {
    return this.#size === 0 ? ABSENT : at(this.#places, 0)
  }

  add(place: number, dueTime: Instant, arrival: number): void {
    if (this.#size === this.#keys.length) this.#growHeap()
    if (place >= this.#positions.length) this.#growPositions(place)
    this.#rise(this.#size++, place, dueTime, arrival)
  }

  remove(place: number): boolean {
    const position = this.#positions[place] ?? ABSENT
    if (position === ABSENT) return false
    this.#positions[place] = ABSENT
    const last = --this.#size
    if (position === last) return true
    const moved = at(this.#places, last)
    const key = at(this.#keys, last)
    const arrival = at(this.#arrivals, last)
    const parent = (position - 1) >> 2
    if (position > 0 && this.#isBefore(key, arrival, parent)) this.#rise(position, moved, key, arrival)
    else this.#sink(position, moved, key, arrival)
    return true
  }

  takeDue(now: Instant): number {
    if (this.#size === 0 || at(this.#keys, 0) > now) return ABSENT
    const first = at(this.#places, 0)
    this.#positions[first] = ABSENT
    const last = --this.#size
    if (last > 0) this.#sink(0, at(this.#places, last), at(this.#keys, last), at(this.#arrivals, last))
    return first
  }

  /** Moves the hole at `position` up to where the entry belongs, and puts it there. */
  #rise(start: number, place: number, key: number, arrival: number): void {
    let position = start
    while (position > 0) {
      const parent = (position - 1) >> 2
      if (!this.#isBefore(key, arrival, parent)) break
      this.#copy(parent, position)
      position = parent
    }
    this.#put(position, place, key, arrival)
  }

  /** Moves the hole at `position` down to where the entry belongs, and puts it there. */
  #sink(start: number, place: number, key: number, arrival: number): void {
    let position = start
    for (let child = 4 * position + 1; child < this.#size; child = 4 * position + 1) {
      let smallest = child
      const end = Math.min(child + 4, this.#size)
      for (let other = child + 1; other < end; other++) {
        if (this.#isBefore(at(this.#keys, other), at(this.#arrivals, other), smallest)) smallest = other
      }
      if (this.#isBefore(key, arrival, smallest)) break
      this.#copy(smallest, position)
      position = smallest
    }
    this.#put(position, place, key, arrival)
  }

  #isBefore(key: number, arrival: number, position: number): boolean {
    const other = at(this.#keys, position)
    return key < other || (key === other && arrival < at(this.#arrivals, position))
  }

  #copy(from: number, to: number): void {
    this.#put(to, at(this.#places, from), at(this.#keys, from), at(this.#arrivals, from))
  }

  #put(position: number, place: number, key: number, arrival: number): void {
    this.#keys[position] = key
    this.#arrivals[position] = arrival
    this.#places[position] = place
    this.#positions[place] = position
  }

  #growHeap(): void {
    const length = this.#keys.length * 2
    this.#keys = grown(this.#keys, new Float64Array(length))
    this.#arrivals = grown(this.#arrivals, new Float64Array(length))
    this.#places = grown(this.#places, new Int32Array(length))
  }

  #growPositions(place: number): void {
    const length = Math.max(this.#positions.length * 2, place + 1)
    this.#positions = grown(this.#positions, new Int32Array(length).fill(ABSENT))
  }
}

type Numbers = Float64Array | Int32Array

// within bounds by construction; the compiler cannot know
const at = (numbers: Numbers, index: number): number => numbers[index] as number

function grown<T extends Numbers>(from: T, to: T): T {
  to.set(from)
  return to
}
