import { LANES } from '../executor/executor.js'
import type { Instant } from '../task/instant.js'
import type { DispatchCore } from './dispatch-core.js'
import type { LiveTasks } from './live-tasks.js'

/** What tells from outside whether the scheduler moves. */
export interface Pulse {
  /** Attempts handed out since the start. */
  readonly starts: number
  /** Due tasks that wait for nothing but a look: their lane has a free slot. */
  readonly startable: number
  /** When the next look has to be at the latest. */
  readonly nextLook: Instant
  /** Nothing is to start: it was asked to hold, it drains, or the store does not commit. */
  readonly isHeld: boolean
}

/** An attempt that has begun and has not ended. */
export interface RunningAttempt {
  readonly taskId: string
  readonly handler: string
  readonly startId: number
  /** Microseconds since 1970. */
  readonly startTimeUs: number
  /** 0 = no limit. */
  readonly timeoutMs: number
}

/** Due tasks in memory that a look would start. */
export function startable(core: DispatchCore, now: Instant): number {
  const free = LANES.filter((lane) => core.lane(lane).busy < core.lane(lane).slots)
  if (free.length === 0) return 0
  const inLine = free.reduce((sum, lane) => sum + core.line.length(lane), 0)
  return inLine + (core.earliest <= now ? 1 : 0)
}

/** The attempts of which a beginning was heard and no end. */
export function* runningAttempts(tasks: LiveTasks): Generator<RunningAttempt> {
  for (const startId of tasks.starts()) {
    const live = tasks.byStart(startId)
    if (!live || live.end || live.returned) continue
    const { spec, state, startTimeUs } = live.task
    const begunUs = state === 'running' ? startTimeUs : live.begunUs
    if (begunUs === 0) continue
    const { id: taskId, handler, attemptTimeoutMs: timeoutMs } = spec
    yield { taskId, handler, startId, startTimeUs: begunUs, timeoutMs }
  }
}
