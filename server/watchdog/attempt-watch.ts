import type { Clock } from '../clock.js'
import type { RunningAttempt } from '../scheduler/pulse.js'
import type { Findings } from './findings.js'

/** So long after its time-out, the grace and the replacement of a thread included, an attempt must have gone. */
export const STUCK_AFTER_MS = 60_000
/** Attempts that are told of by name. */
const MAX_NAMED = 20

/** Looks for attempts that are long past their time-out and still have their slot. */
export class AttemptWatch {
  readonly #clock: Clock
  readonly #findings: Findings
  readonly #running: () => Iterable<RunningAttempt>
  /** Stops it by force, once more. */
  readonly #stop: (startId: number) => void

  constructor(
    clock: Clock,
    findings: Findings,
    running: () => Iterable<RunningAttempt>,
    stop: (startId: number) => void,
  ) {
    this.#clock = clock
    this.#findings = findings
    this.#running = running
    this.#stop = stop
  }

  look(): void {
    const now = this.#clock.now()
    const stuck = new Map<string, { message: string; since: number }>()
    for (const { taskId, handler, startId, startTimeUs, timeoutMs } of this.#running()) {
      const end = Math.floor(startTimeUs / 1_000) + timeoutMs
      if (timeoutMs === 0 || now - end < STUCK_AFTER_MS || stuck.size >= MAX_NAMED) continue
      const message = `an attempt of task '${taskId}' (${handler}) is ${Math.round((now - end) / 1_000)} s past its time-out and cannot be stopped: it is in a native call, or its thread is lost; restart the server to free its slot`
      stuck.set(String(startId), { message, since: end })
      this.#stop(startId)
    }
    this.#findings.areExactly('ATTEMPT_STUCK', stuck)
  }
}
