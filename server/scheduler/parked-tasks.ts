import { PendingHeap } from './pending-heap.js'

interface Group {
  /** By the order of the group, then by arrival. */
  readonly heap: PendingHeap
  /** By place in the heap. */
  readonly ids: (string | undefined)[]
  readonly free: number[]
  /** The first of those on their way back to memory. */
  fetching: { readonly order: number; readonly arrival: number } | undefined
}

interface Parked {
  readonly group: string
  readonly order: number
  readonly arrival: number
  /** -1: on its way back. */
  place: number
}

/**
 * Due tasks that could not start and were too many to keep: of each only its id and its place in the order of its group (those of one concurrency key, of one
 * handler's limit, of one lane). The store still counts them as handed out.
 */
export class ParkedTasks {
  readonly #groups = new Map<string, Group>()
  readonly #byId = new Map<string, Parked>()

  get size(): number {
    return this.#byId.size
  }

  groupOf(id: string): string | undefined {
    return this.#byId.get(id)?.group
  }

  add(name: string, id: string, order: number, arrival: number): void {
    let group = this.#groups.get(name)
    if (!group) {
      group = { heap: new PendingHeap(), ids: [], free: [], fetching: undefined }
      this.#groups.set(name, group)
    }
    const place = group.free.pop() ?? group.ids.length
    group.ids[place] = id
    group.heap.add(place, order, arrival)
    this.#byId.set(id, { group: name, order, arrival, place })
  }

  /** Whether a parked task of the group comes before this place in its order. */
  isAhead(name: string, order: number, arrival: number): boolean {
    const group = this.#groups.get(name)
    if (!group) return false
    const { heap, fetching } = group
    if (fetching && (fetching.order < order || (fetching.order === order && fetching.arrival < arrival)))
      return true
    if (heap.size === 0 || heap.earliest > order) return false
    return heap.earliest < order || this.#arrivalOf(group, heap.first) < arrival
  }

  /** @returns whether it was parked; it is in other hands now. */
  remove(id: string): boolean {
    const parked = this.#byId.get(id)
    if (!parked) return false
    this.#byId.delete(id)
    const group = this.#groups.get(parked.group)
    if (group && parked.place >= 0) {
      group.heap.remove(parked.place)
      this.#free(group, parked.place)
    }
    this.#dropIfEmpty(parked.group)
    return true
  }

  /** The first `count` of a group are wanted back in memory; they stay ahead of all others until `fetched`. */
  fetch(name: string, count: number): readonly string[] {
    const group = this.#groups.get(name)
    if (!group || group.fetching || group.heap.size === 0) return []
    const { heap } = group
    group.fetching = { order: heap.earliest, arrival: this.#arrivalOf(group, heap.first) }
    const ids: string[] = []
    while (ids.length < count && heap.size > 0) {
      const place = heap.takeDue(Infinity)
      const id = group.ids[place] ?? ''
      this.#free(group, place)
      const parked = this.#byId.get(id)
      if (parked) parked.place = -1
      ids.push(id)
    }
    return ids
  }

  /** Those that were wanted can go to their places now: they are no longer ahead of themselves. */
  fetched(name: string): void {
    const group = this.#groups.get(name)
    if (group) group.fetching = undefined
    this.#dropIfEmpty(name)
  }

  /** They could not be had: they go back. */
  notFetched(name: string, ids: readonly string[]): void {
    for (const id of ids) {
      const parked = this.#byId.get(id)
      if (parked) this.add(name, id, parked.order, parked.arrival)
    }
    this.fetched(name)
  }

  /** Forgets all. @returns their arrivals. */
  clear(): readonly number[] {
    const arrivals = [...this.#byId.values()].map(({ arrival }) => arrival)
    this.#byId.clear()
    this.#groups.clear()
    return arrivals
  }

  #arrivalOf(group: Group, place: number): number {
    return this.#byId.get(group.ids[place] ?? '')?.arrival ?? Infinity
  }

  #free(group: Group, place: number): void {
    group.ids[place] = undefined
    group.free.push(place)
  }

  #dropIfEmpty(name: string): void {
    const group = this.#groups.get(name)
    if (group && group.heap.size === 0 && !group.fetching) this.#groups.delete(name)
  }
}
