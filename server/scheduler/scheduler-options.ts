import type { Clock } from '../clock.js'
import type { Executor } from '../executor/executor.js'
import type { TaskStore } from '../store/task-store.js'
import { type Log, SILENT } from '../task/log.js'
import type { LoadedHandlers } from './loaded-handlers.js'
import { PRESETS, type Preset } from './presets.js'
import { DEFAULT_WINDOW, type WindowOptions } from './window.js'

/** What a scheduler works with. */
export interface SchedulerParts {
  readonly store: TaskStore
  readonly executor: Executor
  readonly handlers: LoadedHandlers
  readonly clock: Clock
}

export interface SchedulerOptions extends WindowOptions {
  /** Default `PRESETS.heap`. */
  readonly preset: Preset
  /** Start without dispatching, until `release`: after an outage, to look around first. */
  readonly hold: boolean
  /** Start ids are reserved in blocks of this, at first. */
  readonly startIdBlock: number
  /** After an unclean stop every start is on disk before it happens, for so long: a crash that repeats itself finds whom it took. */
  readonly noteAllMs: number
  readonly log: Log
  /** In [0, 1): where in its jitter band a back-off falls. */
  readonly random: () => number
}

const DEFAULTS: SchedulerOptions = {
  ...DEFAULT_WINDOW,
  preset: PRESETS.heap,
  hold: false,
  startIdBlock: 1_000,
  noteAllMs: 60_000,
  log: SILENT,
  random: Math.random,
}

/** Complete options. @throws RangeError that names the option and its value. */
export function schedulerOptions(given: Partial<SchedulerOptions> = {}): SchedulerOptions {
  const options = { ...DEFAULTS, ...given }
  atLeast('windowMs', options.windowMs, 1)
  atLeast('capacity', options.capacity, 1)
  atLeast('staleMs', options.staleMs, 0)
  atLeast('priorityStepMs', options.priorityStepMs, 0)
  atLeast('startIdBlock', options.startIdBlock, 1)
  atLeast('noteAllMs', options.noteAllMs, 0)
  return Object.freeze(options)
}

function atLeast(name: string, value: number, least: number): void {
  if (!(value >= least)) throw new RangeError(`${name} must be at least ${least}, got ${value}`)
}
