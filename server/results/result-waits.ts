import type { LogEntry } from '../store/task-store.js'

interface Wait {
  readonly run: number | undefined
  readonly resolve: (entry: LogEntry) => void
}

/** Who waits for the result of which task: found by id, so that thousands of them cost a commit nothing. */
export class ResultWaits {
  readonly #byTask = new Map<string, Set<Wait>>()

  /** @returns the first result of the task (and run) from now on; undefined when `signal` is aborted first. */
  wait(taskId: string, run: number | undefined, signal: AbortSignal): Promise<LogEntry | undefined> {
    if (signal.aborted) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const aborted = (): void => {
        this.#remove(taskId, wait)
        resolve(undefined)
      }
      const wait: Wait = {
        run,
        resolve: (entry) => {
          signal.removeEventListener('abort', aborted)
          resolve(entry)
        },
      }
      signal.addEventListener('abort', aborted)
      const waits = this.#byTask.get(taskId)
      if (waits) waits.add(wait)
      else this.#byTask.set(taskId, new Set([wait]))
    })
  }

  /** Tells those whose result is among the entries. */
  resolve(entries: readonly LogEntry[]): void {
    if (this.#byTask.size === 0) return
    for (const entry of entries) {
      if (entry.kind !== 'result') continue
      for (const wait of this.#byTask.get(entry.taskId) ?? []) {
        if (wait.run !== undefined && wait.run !== entry.run) continue
        this.#remove(entry.taskId, wait)
        wait.resolve(entry)
      }
    }
  }

  #remove(taskId: string, wait: Wait): void {
    const waits = this.#byTask.get(taskId)
    waits?.delete(wait)
    if (waits?.size === 0) this.#byTask.delete(taskId)
  }
}
