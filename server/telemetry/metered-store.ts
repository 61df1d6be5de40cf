import type { Clock } from '../clock.js'
import type { TaskStore } from '../store/task-store.js'
import type { Metrics, StoreOperation } from './metrics.js'
import { override } from './port-override.js'

/** A store whose writes are counted and timed. */
export interface MeteredStore {
  readonly store: TaskStore
  /** Whether the last write went well. */
  readonly isAvailable: () => boolean
}

/** Counts what a store keeps: tasks when it has them, results when their transaction is through, and how long each write took. */
export function meteredStore(store: TaskStore, metrics: Metrics, clock: Clock): MeteredStore {
  let available = true
  const timed = async <T>(operation: StoreOperation, write: () => Promise<T>): Promise<T> => {
    const since = clock.steady()
    try {
      const answer = await write()
      available = true
      metrics.committed(operation, clock.steady() - since)
      return answer
    } catch (error) {
      available = false
      throw error
    }
  }
  const methods: Partial<TaskStore> = {
    start: (starts) => timed('start', () => store.start(starts)),
    insert: async (requests) => {
      const answers = await timed('insert', () => store.insert(requests))
      for (const { kind, task } of answers) if (kind === 'created') metrics.taskScheduled(task.spec.handler)
      return answers
    },
    update: async (transitions) => {
      const answers = await timed('update', () => store.update(transitions))
      for (const [index, answer] of answers.entries()) {
        const entries = answer.kind === 'stored' ? (transitions[index]?.entries ?? []) : []
        for (const entry of entries) if (entry.kind === 'result') metrics.runEnded(entry)
      }
      return answers
    },
  }
  return { store: override(store, methods), isAvailable: () => available }
}
