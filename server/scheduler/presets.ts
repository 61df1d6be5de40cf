import type { Lane } from '../executor/executor.js'
import { PendingHeap } from './pending-heap.js'
import { PendingList } from './pending-list.js'
import type { PendingTasks } from './pending-tasks.js'
import { exactTimer, ticker, type WakePolicy } from './wake-policy.js'

/** A scheduler = a pending set × a wake policy × a number of slots. */
export interface Preset {
  pending(): PendingTasks
  readonly wakePolicy: WakePolicy
  /** At most so many attempts at once in each lane; the executor may have fewer. Infinity: the executor's. */
  readonly slots: Readonly<Record<Lane, number>>
  /** At most so many attempts at once in both lanes together. */
  readonly atOnce: number
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
    atOnce: 1,
  },
  /** Looks ten times a second; starts all that is due, up to 1,000 shared attempts at once. Threads bound the other lane. */
  polling: {
    pending: () => new PendingList(),
    wakePolicy: ticker(POLL_MS),
    slots: { thread: Infinity, shared: 1_000 },
    atOnce: Infinity,
  },
  /** Looks ten times a second; a fixed number of workers. */
  'worker-pool': {
    pending: () => new PendingList(),
    wakePolicy: ticker(POLL_MS),
    slots: ANY,
    atOnce: Infinity,
  },
  /** Sleeps until the earliest task is due, which a heap knows at once; a fixed number of workers. The default. */
  heap: { pending: () => new PendingHeap(), wakePolicy: exactTimer, slots: ANY, atOnce: Infinity },
} satisfies Record<string, Preset>

export type PresetName = keyof typeof PRESETS
