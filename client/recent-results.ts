import type { TaskResult as ResultMessage } from '../proto/generated/punctual/v1/result.js'

/** What is held at most, for results that nobody has asked for yet. */
const MAX_RESULTS = 4_096
const MAX_BYTES = 4 * 1024 * 1024

/** About what a result takes without its payload. */
const FIXED_BYTES = 512

/**
 * The newest results that came over the shared stream before anybody asked for them: a result can overtake the answer of its own
 * `schedule()`. Bounded: beyond that the oldest are let go, and `forgotten` tells up to where.
 */
export class RecentResults {
  readonly #byTask = new Map<string, { readonly index: number; readonly result: ResultMessage }>()
  #bytes = 0
  #forgotten = 0

  /** Results with this number and lower ones may have been let go. */
  get forgotten(): number {
    return this.#forgotten
  }

  /** The newest result of a task, if it is held. */
  get(taskId: string): ResultMessage | undefined {
    return this.#byTask.get(taskId)?.result
  }

  /** Holds a result, the newest of its task. `index` counts up. */
  add(index: number, result: ResultMessage): void {
    this.take(result.taskId)
    this.#byTask.set(result.taskId, { index, result })
    this.#bytes += sizeOf(result)
    for (const [taskId, oldest] of this.#byTask) {
      if (this.#byTask.size <= MAX_RESULTS && this.#bytes <= MAX_BYTES) break
      this.#forgotten = oldest.index
      this.take(taskId)
    }
  }

  /** Lets go of a task's result. */
  take(taskId: string): void {
    const held = this.#byTask.get(taskId)
    if (held === undefined) return
    this.#byTask.delete(taskId)
    this.#bytes -= sizeOf(held.result)
  }
}

function sizeOf({ payload, error }: ResultMessage): number {
  const failure = error === undefined ? 0 : error.message.length + error.stack.length
  switch (payload?.$case) {
    case 'outputJson':
    case 'outputBytes':
      return FIXED_BYTES + failure + payload.value.length
    case 'output':
    case undefined:
      return FIXED_BYTES + failure
  }
}
