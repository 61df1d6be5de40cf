import type { LiveTask } from './live-task.js'

/** The due tasks of one key: at most one of them is in front or runs. */
interface KeyQueue {
  /** Its attempt runs: nothing of this key may start. */
  holder: LiveTask | undefined
  /** The one that may take a slot. */
  front: LiveTask | undefined
  /** The others, in due order, the first at `next`. */
  behind: LiveTask[]
  next: number
}

/** Who is first in each concurrency key. Inside a key due order alone counts; priority is between keys. */
export class ConcurrencyKeys {
  readonly #queues = new Map<string, KeyQueue>()

  /** A task of a key is due. @returns whether it may take a slot now, and whom it has put back behind itself by that. */
  enter(live: LiveTask): { front: boolean; displaced?: LiveTask } {
    const { concurrencyKey } = live.task.spec
    let queue = this.#queues.get(concurrencyKey)
    if (!queue)
      this.#queues.set(concurrencyKey, (queue = { holder: undefined, front: undefined, behind: [], next: 0 }))
    const { holder, front } = queue
    if (holder || (front && !isBefore(live, front))) {
      insert(queue, live)
      return { front: false }
    }
    queue.front = live
    if (!front) return { front: true }
    insert(queue, front)
    return { front: true, displaced: front }
  }

  /** The front task takes a slot: its key is held until `release`. */
  hold(live: LiveTask): void {
    const queue = this.#queue(live)
    queue.holder = live
    queue.front = undefined
    live.heldKey = live.task.spec.concurrencyKey
  }

  /** @returns the task that may take a slot now. */
  release(live: LiveTask): LiveTask | undefined {
    // the key it took: a replacement may have brought another one
    const key = live.heldKey
    const queue = this.#queues.get(key)
    live.heldKey = ''
    if (queue?.holder !== live) return undefined
    queue.holder = undefined
    return this.#advance(key, queue)
  }

  /** A due task no longer waits. @returns the task that may take a slot instead, if it was in front. */
  leave(live: LiveTask): LiveTask | undefined {
    const queue = this.#queue(live)
    if (queue.front === live) {
      queue.front = undefined
      return this.#advance(live.task.spec.concurrencyKey, queue)
    }
    const index = indexOf(queue, live)
    if (queue.behind[index] !== live)
      throw new Error(`task ${live.task.spec.id} is not in the queue of its key`)
    queue.behind.splice(index, 1)
    return undefined
  }

  /** How many tasks of the key wait. */
  waiting(key: string): number {
    const queue = this.#queues.get(key)
    return queue ? queue.behind.length - queue.next + (queue.front ? 1 : 0) : 0
  }

  isHeld(key: string): boolean {
    const queue = this.#queues.get(key)
    return queue !== undefined && (queue.holder !== undefined || queue.front !== undefined)
  }

  #advance(key: string, queue: KeyQueue): LiveTask | undefined {
    const next = queue.behind[queue.next]
    if (!next) {
      if (!queue.holder) this.#queues.delete(key)
      return undefined
    }
    queue.next++
    // the taken ones are dropped in one go, so that a long queue is not moved for each
    if (queue.next > 32 && queue.next * 2 > queue.behind.length) {
      queue.behind.splice(0, queue.next)
      queue.next = 0
    }
    queue.front = next
    return next
  }

  #queue({ task }: LiveTask): KeyQueue {
    const queue = this.#queues.get(task.spec.concurrencyKey)
    if (!queue) throw new Error(`the key of task ${task.spec.id} has no queue`)
    return queue
  }
}

function isBefore({ task: a }: LiveTask, { task: b }: LiveTask): boolean {
  return a.notBefore < b.notBefore || (a.notBefore === b.notBefore && a.arrival < b.arrival)
}

function insert(queue: KeyQueue, live: LiveTask): void {
  const last = queue.behind[queue.behind.length - 1]
  if (queue.behind.length === queue.next || (last && isBefore(last, live))) queue.behind.push(live)
  else queue.behind.splice(indexOf(queue, live), 0, live)
}

/** Where `live` is, or belongs. */
function indexOf({ behind, next }: KeyQueue, live: LiveTask): number {
  let low = next
  let high = behind.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const other = behind[middle]
    if (other && isBefore(other, live)) low = middle + 1
    else high = middle
  }
  return low
}
