import type { LogEntry } from '../../server/store/task-store.js'
import type { TaskResult } from '../../server/task/result.js'
import type { Task } from '../../server/task/task.js'

export interface StoredRow {
  task: Task
  /** A scheduler has it. */
  held: boolean
}

/** What outlives a process: several stores may be opened on it, one after another. */
export class MemoryDisk {
  readonly rows = new Map<string, StoredRow>()
  readonly byArrival = new Map<number, StoredRow>()
  readonly log: { readonly entry: LogEntry; readonly result: TaskResult }[] = []
  nextArrival = 1
  nextStartId = 1
  cleanStop = true

  /** Results of runs, in the order of their commits. */
  get results(): readonly TaskResult[] {
    return this.entries.filter(({ kind }) => kind === 'result')
  }

  /** All entries, attempts that did not end their run included. */
  get entries(): readonly TaskResult[] {
    return this.log.map(({ result }) => result)
  }

  task(id: string): Task | undefined {
    return this.rows.get(id)?.task
  }
}
