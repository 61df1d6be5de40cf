import { isQuarantined } from '../task/interruption.js'
import type { LiveTask } from './live-task.js'
import { PendingHeap } from './pending-heap.js'

/** A limit of attempts at once, and the due tasks that wait for it, by start key. */
export class Gate {
  readonly waiting = new PendingHeap()
  readonly #limit: number
  #taken = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get isFull(): boolean {
    return this.#taken >= this.#limit
  }

  enter(): void {
    this.#taken++
  }

  leave(): void {
    this.#taken--
  }
}

const NONE: readonly Gate[] = []

/** Which limits a task falls under beside the slots of its lane: that of its handler, and the quarantine, where one suspect runs at a time. */
export class Gates {
  readonly #byHandler = new Map<string, readonly [Gate]>()
  readonly #quarantine = new Gate(1)

  /** @param maxConcurrent - Of its handler; 0 = no limit. */
  of({ task }: LiveTask, maxConcurrent: number): readonly Gate[] {
    if (maxConcurrent === 0 && !isQuarantined(task)) return NONE
    const own = maxConcurrent > 0 ? this.#ofHandler(task.spec.handler, maxConcurrent) : NONE
    return isQuarantined(task) ? [this.#quarantine, ...own] : own
  }

  /** How many wait for a handler's limit. */
  waiting(handler: string): number {
    return this.#byHandler.get(handler)?.[0]?.waiting.size ?? 0
  }

  #ofHandler(name: string, maxConcurrent: number): readonly [Gate] {
    let gates = this.#byHandler.get(name)
    if (!gates) {
      gates = [new Gate(maxConcurrent)]
      this.#byHandler.set(name, gates)
    }
    return gates
  }
}
