import { DispatchCore } from '../../server/scheduler/dispatch-core.js'
import { LiveTask } from '../../server/scheduler/live-task.js'
import type { Preset } from '../../server/scheduler/presets.js'
import { admit } from '../../server/task/admit.js'
import { taskSpec } from '../../test/support/task-specs.js'
import { type Spread, spreadOf } from '../measure/spread.js'

/** Waiting tasks fall due at this rate on average, however many there are. */
const EVERY_MS = 10
const NOW = Date.UTC(2030, 0, 1)
const SLOTS = { thread: 1_000, shared: 1_000 }
const MIN_DISPATCHES = 3

/** How long a measurement may take. */
export interface Effort {
  readonly rounds: number
  readonly roundMs: number
  readonly mostDispatches: number
}

/**
 * Microseconds of CPU for one dispatch among `waiting` tasks: ask the wake policy, look, start, free the slot, and take in the task that comes instead, so that the
 * number of waiting tasks stays. No store, no thread: the part that the design decides.
 */
export function dispatchCost(preset: Preset, waiting: number, effort: Effort): Spread {
  const core = new DispatchCore({
    pending: preset.pending(),
    handlers: { get: () => ({ lane: 'thread', maxConcurrent: 0 }) },
    slots: { thread: Math.min(SLOTS.thread, preset.slots.thread), shared: SLOTS.shared },
    atOnce: preset.atOnce,
  })
  const random = seeded(waiting)
  const spec = taskSpec({ id: 'waiting' })
  const template = admit(spec, NOW)
  const span = waiting * EVERY_MS
  let arrival = 0
  let now = NOW
  const arrive = (): void => {
    const dueTime = now + 1 + Math.floor(random() * span)
    core.add(new LiveTask({ ...template, arrival: ++arrival, dueTime, notBefore: dueTime }, true), now)
  }
  for (let i = 0; i < waiting; i++) arrive()

  /** One wake-up and all that is due at it. @returns how many were started. */
  const wake = (): number => {
    now = preset.wakePolicy(now, core.earliest)
    core.look(now)
    let count = 0
    for (let bursts = core.start(Infinity); bursts.length > 0; bursts = core.start(Infinity)) {
      for (const live of bursts.flatMap(({ members }) => members)) {
        core.slotFreed(live)
        core.settled(live)
        arrive()
        count++
      }
    }
    return count
  }

  const round = (): number => {
    let done = 0
    // CPU and not time: what else runs on the machine is not counted
    const since = process.cpuUsage()
    let ms = 0
    while ((ms < effort.roundMs && done < effort.mostDispatches) || done < MIN_DISPATCHES) {
      done += wake()
      const { user, system } = process.cpuUsage(since)
      ms = (user + system) / 1_000
    }
    return (ms * 1_000) / done
  }
  round()
  return spreadOf(Array.from({ length: effort.rounds }, round))
}

/** The same due times in every run: mulberry32. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
