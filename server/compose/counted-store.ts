import type { Statistics } from '../stats/statistics.js'
import type { TaskStore } from '../store/task-store.js'
import { override } from '../telemetry/port-override.js'

/** A store whose results are counted once they are kept; stores and scheduler know nothing of it. */
export function countedStore(store: TaskStore, statistics: Statistics): TaskStore {
  return override(store, {
    update: async (transitions) => {
      const answers = await store.update(transitions)
      statistics.updated(transitions, answers)
      return answers
    },
  })
}
