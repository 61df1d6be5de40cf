import type { LogEntry, LogPosition, StoredConsumer } from '../../server/store/task-store.js'
import type { Instant } from '../../server/task/instant.js'
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
  readonly consumers = new Map<string, StoredConsumer>()
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

  append(result: TaskResult, now: Instant): void {
    const { kind, taskId, handler, outcome, origin, labels, run } = result
    const entry = {
      position: this.log.length + 1,
      // never before an earlier one, so that it can be searched
      commitTime: Math.max(now, this.log.at(-1)?.entry.commitTime ?? 0),
      kind,
      taskId,
      handler,
      outcome,
      origin,
      labels,
      run,
      bytes: new TextEncoder().encode(JSON.stringify(result)),
    }
    this.log.push({ entry, result })
  }

  moveConsumer(name: string, position: LogPosition, activeTime: Instant): void {
    const known = this.consumers.get(name)
    if (known === undefined) return
    this.consumers.set(name, {
      ...known,
      position: Math.max(known.position, position),
      activeTime: Math.max(known.activeTime, activeTime),
    })
  }
}
