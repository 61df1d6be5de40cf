import { setImmediate as turn } from 'node:timers/promises'
import type { TaskStore } from '../../server/store/task-store.js'
import type { Task } from '../../server/task/task.js'
import { created } from '../store/store-world.js'
import { ending, named } from '../store/stored-tasks.js'

const BATCH = 20

/** Inserts and ends tasks all the time, and remembers what the store said. */
export class StoreLoad {
  /** Tasks whose insert was acknowledged. */
  readonly stored = new Map<string, Task>()
  /** Those of them whose end was acknowledged, or is being stored. */
  readonly ended = new Set<string>()
  /** Why inserts were refused, by id. */
  readonly refused = new Map<string, unknown>()
  /** How many tasks were given to the store. */
  given = 0
  readonly #store: TaskStore
  #isOver = false
  #running: Promise<unknown> = Promise.resolve()

  constructor(store: TaskStore) {
    this.#store = store
  }

  start(lanes: number): void {
    this.#running = Promise.all(Array.from({ length: lanes }, () => this.#run())).finally(() => this.#over())
  }

  /** Waits until `count` more tasks were given to the store. */
  async more(count: number): Promise<void> {
    const before = this.given
    while (this.given < before + count && !this.#isOver) await turn()
  }

  /** Stops, and ends what has not ended. @throws what the store should not have said. */
  async finish(): Promise<void> {
    this.#over()
    await this.#running
    while (this.ended.size < this.stored.size) await this.#end()
  }

  #over(): void {
    this.#isOver = true
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await Promise.all([this.#insert(), this.#end()])
      await turn()
    }
  }

  async #insert(): Promise<void> {
    const batch = Array.from({ length: BATCH }, () => named(`t${this.given++}`))
    try {
      const answers = await this.#store.insert(batch.map((task) => ({ task, near: true })))
      for (const answer of answers) this.stored.set(answer.task.spec.id, created(answer))
    } catch (error) {
      for (const { spec } of batch) this.refused.set(spec.id, error)
    }
  }

  async #end(): Promise<void> {
    const some = [...this.stored.values()].filter(({ spec }) => !this.ended.has(spec.id)).slice(0, BATCH)
    for (const { spec } of some) this.ended.add(spec.id)
    try {
      const answers = await this.#store.update(some.map((task) => ending(task)))
      // had the answer to an end been lost, the end would be refused here as one that is stored already
      if (answers.some(({ kind }) => kind !== 'stored'))
        throw new Error('an end was stored, and its answer lost')
    } catch (error) {
      if (reasonOf(error) !== 'STORE_UNAVAILABLE') throw error
      for (const { spec } of some) this.ended.delete(spec.id)
    }
  }
}

export const reasonOf = (error: unknown): string => (error as { reason?: string }).reason ?? String(error)
