import type { AttemptEnd, ExecutorEvents } from '../../server/executor/executor.js'
import type { AttemptOutcome } from '../../server/task/outcome.js'

/** Notes what an executor tells, in order. */
export class RecordedEvents implements ExecutorEvents {
  /** Such as `began 1`, `ended 1`. */
  readonly told: string[] = []
  readonly ends = new Map<number, AttemptEnd>()
  readonly workerIds = new Map<number, string>()

  began(starts: Parameters<ExecutorEvents['began']>[0]): void {
    for (const { startId, workerId } of starts) {
      this.told.push(`began ${startId}`)
      this.workerIds.set(startId, workerId)
    }
  }

  ended(ends: readonly AttemptEnd[]): void {
    for (const end of ends) {
      this.told.push(`ended ${end.startId}`)
      this.ends.set(end.startId, end)
    }
  }

  returned(startIds: readonly number[]): void {
    for (const startId of startIds) this.told.push(`returned ${startId}`)
  }

  released(startIds: readonly number[]): void {
    for (const startId of startIds) this.told.push(`released ${startId}`)
  }

  /** The outcome of an attempt; throws as long as there is none. */
  outcome(startId: number): AttemptOutcome {
    const end = this.ends.get(startId)
    if (end === undefined) throw new Error(`attempt ${startId} has not ended; told: ${this.told.join(', ')}`)
    return end.outcome
  }

  has(what: string): boolean {
    return this.told.includes(what)
  }

  /** How often something was told. */
  count(what: string): number {
    return this.told.filter((told) => told === what).length
  }

  /** All of these attempts have ended. */
  haveEnded(...startIds: number[]): boolean {
    return startIds.every((startId) => this.ends.has(startId))
  }
}
