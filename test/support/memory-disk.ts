import type {
  InsertAnswer,
  InsertRequest,
  LogEntry,
  LogPosition,
  StoredConsumer,
  UpdateAnswer,
} from '../../server/store/task-store.js'
import type { Instant } from '../../server/task/instant.js'
import type { TaskResult, Transition } from '../../server/task/result.js'
import { isLive, type Task } from '../../server/task/task.js'

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
  /** Positions of entries that retention has removed; up to the floor the log cannot be read. */
  readonly gone = new Set<LogPosition>()
  floor: LogPosition = 0
  nextArrival = 1
  nextStartId = 1
  cleanStop = true
  lastChange: Instant = 0

  /** Results of runs, in the order of their commits. */
  get results(): readonly TaskResult[] {
    return this.entries.filter(({ kind }) => kind === 'result')
  }

  /** All entries, attempts that did not end their run included. */
  get entries(): readonly TaskResult[] {
    return this.log.map(({ result }) => result)
  }

  get resultBytes(): number {
    const kept = this.log.filter(({ entry }) => !this.gone.has(entry.position))
    return kept.reduce((sum, { entry }) => sum + entry.bytes.length, 0)
  }

  task(id: string): Task | undefined {
    return this.rows.get(id)?.task
  }

  insert({ task, near }: InsertRequest): InsertAnswer {
    const logPosition = this.log.length
    const known = this.rows.get(task.spec.id)
    if (known) return { kind: 'exists', task: known.task, logPosition }
    const row = { task: { ...task, arrival: this.nextArrival++ }, held: near }
    this.rows.set(task.spec.id, row)
    this.byArrival.set(row.task.arrival, row)
    return { kind: 'created', task: row.task, logPosition }
  }

  update({ task, entries, reopen }: Transition & { readonly reopen?: boolean }, now: Instant): UpdateAnswer {
    const row = this.byArrival.get(task.arrival)
    if (!row) return { kind: 'refused', stored: undefined }
    const { task: stored } = row
    if (stored.startId > task.startId || (!isLive(stored.state) && !reopen))
      return { kind: 'refused', stored }
    row.task = task
    if (!isLive(task.state)) row.held = false
    for (const result of entries) this.append(result, now)
    return { kind: 'stored' }
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
