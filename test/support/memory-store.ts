import type { Clock } from '../../server/clock.js'
import {
  type AttemptStart,
  type InsertAnswer,
  type InsertRequest,
  type LogEntry,
  type LogFilter,
  type LogPage,
  type LogPosition,
  type PurgeRules,
  type PurgeStep,
  type Recovery,
  type StoredConsumer,
  type StoreStats,
  type TaskPage,
  type TaskQuery,
  type TaskStore,
  type UpdateAnswer,
  matches,
} from '../../server/store/task-store.js'
import type { Instant } from '../../server/task/instant.js'
import type { Transition } from '../../server/task/result.js'
import { startKey } from '../../server/task/start-order.js'
import { isLive, type Task, type TaskState } from '../../server/task/task.js'
import { MemoryDisk, type StoredRow } from './memory-disk.js'
import { pageOf } from './page-of-tasks.js'
import { purgeInMemory } from './purge-in-memory.js'

export interface MemoryStoreOptions {
  readonly disk?: MemoryDisk
  /** How long a commit takes. Default 0. */
  readonly commitMs?: number
  readonly priorityStepMs?: number
}

/** A store in memory: every call takes effect when its commit does, in order; what is not committed is lost with the process. */
export class MemoryStore implements TaskStore {
  readonly disk: MemoryDisk
  /** Set: calls are refused with it. */
  trouble: Error | undefined
  /** Calls by name. */
  readonly calls = new Map<string, number>()
  readonly #clock: Clock
  readonly #commitMs: number
  readonly #stepMs: number | undefined
  readonly #listeners = new Set<(entries: readonly LogEntry[]) => void>()
  #batch: (() => void)[] = []
  #isDead = false

  constructor(
    clock: Clock,
    { disk = new MemoryDisk(), commitMs = 0, priorityStepMs }: MemoryStoreOptions = {},
  ) {
    this.#clock = clock
    this.disk = disk
    this.#commitMs = commitMs
    this.#stepMs = priorityStepMs
  }

  /** The process dies: what is under way is lost, and no call is answered any more. */
  kill(): void {
    this.#isDead = true
    this.#batch = []
  }

  now(): Instant {
    return this.#clock.now()
  }

  async open(): Promise<Recovery> {
    const { disk } = this
    const rows = [...disk.rows.values()].filter(({ held, task }) => held && isLive(task.state))
    const { cleanStop, lastChange } = disk
    const recovery = { tasks: rows.map(({ task }) => task), cleanStop, lastChange, logId: 'memory' }
    disk.cleanStop = false
    return recovery
  }

  insert(requests: readonly InsertRequest[]): Promise<readonly InsertAnswer[]> {
    return this.#commit('insert', () => {
      this.disk.lastChange = this.now()
      return requests.map((request) => this.disk.insert(request))
    })
  }

  start(starts: readonly AttemptStart[]): Promise<void> {
    return this.#commit('start', () => {
      for (const { arrival, startId, startTimeUs, attempts } of starts) {
        const row = this.disk.byArrival.get(arrival)
        if (!row || row.task.startId >= startId || !isLive(row.task.state)) continue
        row.task = { ...row.task, state: 'running', startId, startTimeUs, attempts }
      }
    })
  }

  update(
    transitions: readonly (Transition & { readonly reopen?: boolean })[],
  ): Promise<readonly UpdateAnswer[]> {
    return this.#commit('update', () => {
      const before = this.disk.log.length
      this.disk.lastChange = this.now()
      const answers = transitions.map((transition) => this.disk.update(transition, this.now()))
      this.#tell(this.disk.log.slice(before).map(({ entry }) => entry))
      return answers
    })
  }

  takeWindow({
    now,
    through,
    limit,
  }: {
    now: Instant
    through: Instant
    limit: number
  }): Promise<readonly Task[]> {
    return this.#commit('takeWindow', () => {
      const order = (a: StoredRow, b: StoredRow): number => {
        const isDue = a.task.notBefore <= now
        if (isDue !== b.task.notBefore <= now) return isDue ? -1 : 1
        const [x, y] = isDue ? [this.#key(a), this.#key(b)] : [a.task.notBefore, b.task.notBefore]
        return x - y || a.task.arrival - b.task.arrival
      }
      const taken = this.#outside()
        .filter(({ task }) => task.notBefore <= through)
        .toSorted(order)
        .slice(0, limit)
      for (const row of taken) row.held = true
      return taken.map(({ task }) => task)
    })
  }

  giveBack(arrivals: readonly number[]): Promise<void> {
    return this.#commit('giveBack', () => {
      for (const arrival of arrivals) {
        const row = this.disk.byArrival.get(arrival)
        if (row) row.held = false
      }
    })
  }

  nextWaiting(): Promise<Instant | undefined> {
    return this.#commit('nextWaiting', () => {
      const dues = this.#outside().map(({ task }) => task.notBefore)
      return dues.length === 0 ? undefined : dues.reduce((a, b) => Math.min(a, b))
    })
  }

  get(ids: readonly string[]): Promise<readonly (Task | undefined)[]> {
    return this.#commit('get', () => ids.map((id) => this.disk.task(id)))
  }

  list(query: TaskQuery): Promise<TaskPage> {
    const tasks = (): Task[] => [...this.disk.rows.values()].map(({ task }) => task)
    return this.#commit('list', () => pageOf(tasks(), query))
  }

  readLog(query: {
    readonly after: LogPosition
    readonly filter: LogFilter
    readonly maxEntries: number
    readonly maxBytes: number
  }): Promise<LogPage> {
    return this.#commit('readLog', () => {
      const entries: LogEntry[] = []
      let bytes = 0
      for (const { entry } of this.disk.log.slice(Math.max(query.after, this.disk.floor))) {
        if (!matches(query.filter, entry)) continue
        if (entries.length >= query.maxEntries || (bytes >= query.maxBytes && entries.length > 0)) {
          return { entries, through: entry.position - 1 }
        }
        entries.push(entry)
        bytes += entry.bytes.byteLength
      }
      return { entries, through: this.disk.log.length }
    })
  }

  findResult(taskId: string, run?: number): Promise<LogEntry | undefined> {
    return this.#commit('findResult', () => {
      const isWanted = (entry: LogEntry): boolean =>
        entry.kind === 'result' && entry.taskId === taskId && (run === undefined || entry.run === run)
      const { log, gone } = this.disk
      return log
        .filter(({ entry }) => !gone.has(entry.position))
        .map(({ entry }) => entry)
        .findLast(isWanted)
    })
  }

  async lookUp(id: string): Promise<{ task: Task | undefined; result: LogEntry | undefined }> {
    const [[task], result] = await Promise.all([this.get([id]), this.findResult(id)])
    return { task, result }
  }

  positionAt(since: Instant): Promise<LogPosition> {
    return this.#commit('positionAt', () => {
      const first = this.disk.log.findIndex(({ entry }) => entry.commitTime >= since)
      return Math.max(this.disk.floor, first < 0 ? this.disk.log.length : first)
    })
  }

  consumers(): Promise<readonly StoredConsumer[]> {
    const byName = (a: StoredConsumer, b: StoredConsumer): number => (a.name < b.name ? -1 : 1)
    return this.#commit('consumers', () => [...this.disk.consumers.values()].toSorted(byName))
  }

  keepConsumer(consumer: StoredConsumer): Promise<void> {
    return this.#commit('keepConsumer', () => void this.disk.consumers.set(consumer.name, consumer))
  }

  moveConsumer(name: string, position: LogPosition, activeTime: Instant): Promise<void> {
    return this.#commit('moveConsumer', () => this.disk.moveConsumer(name, position, activeTime))
  }

  forgetConsumer(name: string): Promise<void> {
    return this.#commit('forgetConsumer', () => void this.disk.consumers.delete(name))
  }

  stats(): Promise<StoreStats> {
    return this.#commit('stats', () => {
      const states: Record<TaskState, number> = {
        scheduled: 0,
        running: 0,
        succeeded: 0,
        failed: 0,
        cancelled: 0,
        expired: 0,
      }
      for (const { task } of this.disk.rows.values()) states[task.state]++
      const { log, floor, resultBytes } = this.disk
      const { length } = log
      return { states, bytes: 0, resultBytes, logEntries: length - floor, earliest: floor, latest: length }
    })
  }

  purge(rules: PurgeRules): Promise<PurgeStep> {
    return this.#commit('purge', () => purgeInMemory(this.disk, rules))
  }

  tidy(): Promise<void> {
    return this.#commit('tidy', () => undefined)
  }

  onLog(listener: (entries: readonly LogEntry[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  reserveStartIds(count: number): Promise<number> {
    return this.#commit('reserveStartIds', () => {
      const first = this.disk.nextStartId
      this.disk.nextStartId += count
      return first
    })
  }

  close(): Promise<void> {
    return this.#commit('close', () => {
      this.disk.cleanStop = true
    })
  }

  #commit<T>(name: string, effect: () => T): Promise<T> {
    this.calls.set(name, (this.calls.get(name) ?? 0) + 1)
    if (this.#isDead) return new Promise(() => {})
    if (this.trouble) return Promise.reject(this.trouble)
    return new Promise((resolve, reject) => {
      if (this.#batch.length === 0) this.#clock.setTimer(this.#commitMs, () => this.#commitBatch())
      this.#batch.push(() => {
        try {
          if (this.trouble) throw this.trouble
          resolve(effect())
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
    })
  }

  #commitBatch(): void {
    const batch = this.#batch
    this.#batch = []
    for (const effect of batch) effect()
  }

  #tell(entries: readonly LogEntry[]): void {
    if (entries.length > 0) for (const listener of this.#listeners) listener(entries)
  }

  #outside(): StoredRow[] {
    return [...this.disk.rows.values()].filter(
      ({ held, task }) => !held && task.state === 'scheduled' && !task.paused,
    )
  }

  #key({ task }: StoredRow): number {
    return startKey(task.notBefore, task.spec.priority, this.#stepMs)
  }
}
