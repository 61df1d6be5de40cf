import type { Lane } from '../executor/executor.js'
import { PendingHeap } from './pending-heap.js'
import { PendingList } from './pending-list.js'
import type { PendingTasks } from './pending-tasks.js'
import { exactTimer, ticker, type WakePolicy } from './wake-policy.js'

/** A scheduler = a pending set × a wake policy × a number of slots. */
export interface Preset {
  pending(): PendingTasks
  readonly wakePolicy: WakePolicy
  /** At most so many attempts at once in each lane; the executor may have fewer. */
  readonly slots: Readonly<Record<Lane, number>>
}

const ANY: Preset['slots'] = { thread: Infinity, shared: Infinity }
const POLL_MS = 100

/** The classic designs, each as one value. */
export const PRESETS = {
  /** Sleeps until the earliest task is due; one attempt at a time. */
  'dynamic-sleep': {
    pending: () => new PendingList(),
    wakePolicy: exactTimer,
    slots: { thread: 1, shared: 1 },
  },
  /** Looks ten times a second; as many attempts at once as there is room for (1,000 shared ones at most). */
  polling: {
    pending: () => new PendingList(),
    wakePolicy: ticker(POLL_MS),
    slots: { thread: Infinity, shared: 1_000 },
  },
  /** Looks ten times a second; a fixed number of workers. */
  'worker-pool': { pending: () => new PendingList(), wakePolicy: ticker(POLL_MS), slots: ANY },
  /** Sleeps until the earliest task is due, which a heap knows at once; a fixed number of workers. The default. */
  heap: { pending: () => new PendingHeap(), wakePolicy: exactTimer, slots: ANY },
} satisfies Record<string, Preset>

export type PresetName = keyof typeof PRESETS
