import type { Lane } from '../executor/executor.js'
import type { Instant } from '../task/instant.js'
import { PRIORITY_STEP_MS, startKey } from '../task/start-order.js'
import { ConcurrencyKeys } from './concurrency-keys.js'
import { type Gate, Gates } from './gates.js'
import type { LiveTask } from './live-task.js'
import type { LoadedHandlers } from './loaded-handlers.js'
import { PendingHeap } from './pending-heap.js'

/** How far the tasks in memory are known to be the first: those with a greater key may have to wait for some that are not in memory. */
export interface Frontier {
  readonly key: number
  readonly arrival: number
}

/**
 * The due tasks in the order in which they may start: one line for each lane, by start key. Beside the lines wait those that would only stand in the way:
 * behind the first of their concurrency key, before a limit that is reached, for a handler that is not loaded.
 */
export class StartLine {
  readonly #handlers: LoadedHandlers
  readonly #at: (place: number) => LiveTask
  readonly #stepMs: number
  readonly #keys = new ConcurrencyKeys()
  readonly #gates = new Gates()
  readonly #lines: Record<Lane, PendingHeap> = { thread: new PendingHeap(), shared: new PendingHeap() }

  constructor(handlers: LoadedHandlers, at: (place: number) => LiveTask, stepMs = PRIORITY_STEP_MS) {
    this.#handlers = handlers
    this.#at = at
    this.#stepMs = stepMs
  }

  /** How many stand in the line of a lane. */
  length(lane: Lane): number {
    return this.#lines[lane].size
  }

  /** Who comes first: of the due by start key, then those that are not due, as they fall due. */
  compare(a: LiveTask, b: LiveTask, now: Instant): number {
    const isDue = a.task.notBefore <= now
    if (isDue !== b.task.notBefore <= now) return isDue ? -1 : 1
    const order = isDue ? this.#key(a) - this.#key(b) : a.task.notBefore - b.task.notBefore
    return order || a.task.arrival - b.task.arrival
  }

  /** In which lane the one comes first that stands first; an empty lane is last. */
  compareLanes(a: Lane, b: Lane): number {
    const [one, other] = [this.#lines[a], this.#lines[b]]
    if (one.size === 0 || other.size === 0) return other.size - one.size
    const arrival = (line: PendingHeap): number => this.#at(line.first).task.arrival
    return one.earliest - other.earliest || arrival(one) - arrival(other)
  }

  /** What a task waits for, beside its time: those of one group start in one order. */
  groupOf({ task: { spec } }: LiveTask): string {
    const handler = this.#handlers.get(spec.handler)
    if (!handler) return `handler ${spec.handler}`
    if (spec.concurrencyKey !== '') return `key ${spec.concurrencyKey}`
    return handler.maxConcurrent > 0 ? `limit ${spec.handler}` : `lane ${handler.lane}`
  }

  /** Its place in the order of its group, before arrival. */
  orderOf(live: LiveTask): number {
    return live.task.spec.concurrencyKey === '' ? this.#key(live) : live.task.notBefore
  }

  /** How many of a group wait in memory; of those at a limit, the ones that are not let in. */
  inMemory(group: string): number {
    const [kind = '', ...words] = group.split(' ')
    const name = words.join(' ')
    if (kind === 'key') return this.#keys.waiting(name)
    if (kind === 'lane') return this.#lines[name === 'shared' ? 'shared' : 'thread'].size
    return kind === 'limit' ? this.#gates.waiting(name) : Infinity
  }

  /** A task is due. */
  enter(live: LiveTask): void {
    const { handler, concurrencyKey } = live.task.spec
    if (!this.#handlers.get(handler)) {
      live.where = 'noHandler'
      return
    }
    if (concurrencyKey !== '') {
      const { front, displaced } = this.#keys.enter(live)
      if (displaced) {
        this.#stepAside(displaced)
        displaced.where = 'behindKey'
      }
      if (!front) {
        live.where = 'behindKey'
        return
      }
    }
    this.#lineUp(live)
  }

  /** A due task no longer waits. */
  leave(live: LiveTask): void {
    if (live.where === 'noHandler' || live.where === 'behindParked') return
    if (live.where !== 'behindKey') this.#stepAside(live)
    if (live.task.spec.concurrencyKey === '') return
    const next = this.#keys.leave(live)
    if (next) this.#lineUp(next)
  }

  /** The first of a lane that nothing keeps back; it stays in line. Those at a reached limit are sent to wait there. */
  first(lane: Lane, frontier: Frontier | undefined): LiveTask | undefined {
    const line = this.#lines[lane]
    while (line.size > 0) {
      if (frontier && !this.isWithin(lane, frontier)) return undefined
      const live = this.#at(line.first)
      const gates = this.#gatesOf(live)
      const closed = gates.length > 0 ? gates.find((gate) => gate.isFull) : undefined
      if (!closed) return live
      this.#stepAside(live)
      live.where = 'atLimit'
      live.waitsAt = closed
      closed.waiting.add(live.place, this.#key(live), live.task.arrival)
    }
    return undefined
  }

  /** Whether the first of a lane is known to be the first. */
  isWithin(lane: Lane, { key, arrival }: Frontier): boolean {
    const line = this.#lines[lane]
    if (line.earliest !== key) return line.earliest < key
    return this.#at(line.first).task.arrival <= arrival
  }

  /** The first of its lane starts: it holds its key and its share of the limits. */
  start(live: LiveTask, lane: Lane): void {
    this.#lines[lane].remove(live.place)
    live.where = 'handedOut'
    if (live.task.spec.concurrencyKey !== '') this.#keys.hold(live)
    const gates = this.#gatesOf(live)
    if (gates.length === 0) return
    live.heldGates = gates
    for (const gate of gates) gate.enter()
  }

  /** Its attempt is over: its share of the limits is free. */
  freed(live: LiveTask): void {
    for (const gate of live.heldGates) {
      gate.leave()
      this.#letIn(gate)
    }
    live.heldGates = []
  }

  /** What its attempt led to is stored: its key is free. */
  releaseKey(live: LiveTask): void {
    if (live.heldKey === '') return
    const next = this.#keys.release(live)
    if (next) this.#lineUp(next)
  }

  isKeyHeld(key: string): boolean {
    return this.#keys.isHeld(key)
  }

  isAtLimit(live: LiveTask): boolean {
    return this.#gatesOf(live).some((gate) => gate.isFull)
  }

  #gatesOf(live: LiveTask): readonly Gate[] {
    return this.#gates.of(live, this.#handlers.get(live.task.spec.handler)?.maxConcurrent ?? 0)
  }

  #lineUp(live: LiveTask): void {
    live.where = 'ready'
    live.waitsAt = undefined
    this.#lines[this.#laneOf(live)].add(live.place, this.#key(live), live.task.arrival)
  }

  /** Out of its line, or from before its limit. Where it was the one let in, another is let in. */
  #stepAside(live: LiveTask): void {
    if (live.where === 'atLimit') {
      live.waitsAt?.waiting.remove(live.place)
      live.waitsAt = undefined
      return
    }
    this.#lines[this.#laneOf(live)].remove(live.place)
    for (const gate of this.#gatesOf(live)) this.#letIn(gate)
  }

  /** As many tasks of a limit stand in line as it still lets start, at least: the others wait before it. */
  #letIn(gate: Gate): void {
    if (gate.isFull) return
    const next = gate.waiting.takeDue(Infinity)
    if (next >= 0) this.#lineUp(this.#at(next))
  }

  #laneOf(live: LiveTask): Lane {
    return this.#handlers.get(live.task.spec.handler)?.lane ?? 'thread'
  }

  #key({ task }: LiveTask): number {
    return startKey(task.notBefore, task.spec.priority, this.#stepMs)
  }
}
