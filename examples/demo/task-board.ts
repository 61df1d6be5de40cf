import type { TaskResult } from 'punctual'
import type { TaskRow } from './task-row.js'

/** What is known of the demo's tasks, in the order of their due times. */
export class TaskBoard {
  readonly #rows = new Map<string, TaskRow>()

  get rows(): readonly TaskRow[] {
    return [...this.#rows.values()].toSorted((a, b) => a.dueMs - b.dueMs)
  }

  get hasLive(): boolean {
    return [...this.#rows.values()].some((row) => row.end === undefined)
  }

  add(id: string, n: number, dueMs: number): void {
    this.#rows.set(id, { n, dueMs, state: 'waiting' })
  }

  run(id: string): void {
    const row = this.#rows.get(id)
    // the answer of a list may be older than a result
    if (row?.state === 'waiting') this.#rows.set(id, { ...row, state: 'running' })
  }

  end(result: TaskResult): void {
    const row = this.#rows.get(result.taskId)
    if (row === undefined) return
    const { latenessMs = 0, durationMs = 0, workerId, traceId } = result
    const state = result.outcome === 'succeeded' ? 'succeeded' : 'failed'
    const text = result.outcome === 'succeeded' ? JSON.stringify(result.output) : whyNot(result)
    this.#rows.set(result.taskId, { ...row, state, end: { latenessMs, durationMs, workerId, traceId, text } })
  }
}

function whyNot(result: TaskResult): string {
  return ('error' in result && result.error?.message) || result.outcome
}
