import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Instant } from '../../task/instant.js'
import type { TaskSpec } from '../../task/task-spec.js'
import type { Task } from '../../task/task.js'
import type * as port from '../task-store.js'
import type { Channel, StoreSettings } from './channel.js'
import { InlineChannel } from './inline-channel.js'
import type { InsertOutcome, UpdateOutcome } from './operations.js'
import { numbered, packInsert, packUpdate, type PendingEntry } from './pack.js'
import { STORE_FILE } from './store-folder.js'
import { type TaskRow, unpackTask } from './task-codec.js'
import { ThreadChannel } from './thread-channel.js'

export interface SqliteStoreOptions {
  /** A folder of its own, made when it does not exist; or `:memory:`. */
  readonly folder: string
  /** Default `full`: acknowledged = on disk. */
  readonly durability?: 'full' | 'relaxed'
  /** Milliseconds of waiting that one step of priority outweighs. Default 10,000. */
  readonly priorityStepMs?: number
  /** Where SQLite runs. Default `thread`; `inline` for tests on virtual time. */
  readonly runIn?: 'thread' | 'inline'
  readonly now: () => Instant
  readonly encodeResult: port.EncodeResult
}

/**
 * The embedded store: SQLite in a thread of its own, with group commit.
 *
 * @example
 * const store = new SqliteStore({ folder: './data', now: () => clock.now(), encodeResult })
 * const recovery = await store.open()
 */
export class SqliteStore implements port.TaskStore {
  readonly #options: SqliteStoreOptions
  readonly #channel: Channel
  readonly #listeners = new Set<(entries: readonly port.LogEntry[]) => void>()
  /** Specs that are stored as they are: they need not be written again. */
  readonly #storedSpecs = new WeakSet<TaskSpec>()

  constructor(options: SqliteStoreOptions) {
    this.#options = options
    const settings: StoreSettings = {
      folder: options.folder,
      durability: options.durability ?? 'full',
      nowMs: options.now(),
    }
    this.#channel = options.runIn === 'inline' ? new InlineChannel(settings) : new ThreadChannel(settings)
  }

  now(): Instant {
    return this.#options.now()
  }

  async open(): Promise<port.Recovery> {
    await this.#channel.open()
    const { cleanStop, logId, rows } = (await this.#channel.write({ kind: 'recover' })) as {
      cleanStop: boolean
      logId: string
      rows: TaskRow[]
    }
    return { cleanStop, logId, tasks: rows.map((row) => this.#task(row)) }
  }

  async insert(requests: readonly port.InsertRequest[]): Promise<readonly port.InsertAnswer[]> {
    if (requests.length === 0) return []
    const outcome = (await this.#channel.write({
      kind: 'insert',
      columns: packInsert(requests),
    })) as InsertOutcome
    const answers = requests.map(({ task }, i): port.InsertAnswer => {
      this.#storedSpecs.add(task.spec)
      return {
        kind: 'created',
        task: numbered(task, outcome.firstArrival + i),
        logPosition: outcome.logPosition,
      }
    })
    for (const { index, row, logPosition } of outcome.known)
      answers[index] = { kind: 'exists', task: this.#task(row), logPosition }
    return answers
  }

  async start(starts: readonly port.AttemptStart[]): Promise<void> {
    await this.#channel.write({ kind: 'start', starts })
  }

  async update(transitions: Parameters<port.TaskStore['update']>[0]): Promise<readonly port.UpdateAnswer[]> {
    if (transitions.length === 0) return []
    const { update, pending } = packUpdate(
      this.now(),
      transitions,
      this.#options.encodeResult,
      this.#storedSpecs,
    )
    const outcome = (await this.#channel.write({ kind: 'update', update })) as UpdateOutcome
    this.#publish(pending, outcome)
    const answers = transitions.map((): port.UpdateAnswer => ({ kind: 'stored' }))
    for (const { index, stored } of outcome.refused)
      answers[index] = { kind: 'refused', stored: stored && this.#task(stored) }
    return answers
  }

  async takeWindow(query: Parameters<port.TaskStore['takeWindow']>[0]): Promise<readonly Task[]> {
    const priorityStepMs = this.#options.priorityStepMs ?? 10_000
    const rows = (await this.#channel.write({ kind: 'takeWindow', ...query, priorityStepMs })) as TaskRow[]
    return rows.map((row) => this.#task(row))
  }

  async giveBack(arrivals: readonly number[]): Promise<void> {
    await this.#channel.write({ kind: 'giveBack', arrivals })
  }

  nextWaiting(): Promise<Instant | undefined> {
    return this.#channel.write({ kind: 'nextWaiting' }) as Promise<Instant | undefined>
  }

  async get(ids: readonly string[]): Promise<readonly (Task | undefined)[]> {
    const rows = (await this.#channel.write({ kind: 'get', ids })) as (TaskRow | undefined)[]
    return rows.map((row) => row && this.#task(row))
  }

  async list(query: port.TaskQuery): Promise<port.TaskPage> {
    const { rows, next } = (await this.#channel.read({ kind: 'list', query })) as {
      rows: TaskRow[]
      next?: NonNullable<port.TaskPage['next']>
    }
    return { tasks: rows.map((row) => this.#task(row)), ...(next ? { next } : {}) }
  }

  readLog(query: Parameters<port.TaskStore['readLog']>[0]): Promise<port.LogPage> {
    return this.#channel.read({ kind: 'readLog', ...query }) as Promise<port.LogPage>
  }

  findResult(taskId: string, run?: number): Promise<port.LogEntry | undefined> {
    return this.#channel.write({ kind: 'findResult', id: taskId, run }) as Promise<port.LogEntry | undefined>
  }

  positionAt(since: Instant): Promise<port.LogPosition> {
    return this.#channel.read({ kind: 'positionAt', since }) as Promise<port.LogPosition>
  }

  consumers(): Promise<readonly port.StoredConsumer[]> {
    return this.#channel.write({ kind: 'consumers' }) as Promise<readonly port.StoredConsumer[]>
  }

  async keepConsumer(consumer: port.StoredConsumer): Promise<void> {
    await this.#channel.write({ kind: 'keepConsumer', consumer })
  }

  async moveConsumer(name: string, position: port.LogPosition, activeTime: Instant): Promise<void> {
    await this.#channel.write({ kind: 'moveConsumer', name, position, activeTime })
  }

  async forgetConsumer(name: string): Promise<void> {
    await this.#channel.write({ kind: 'forgetConsumer', name })
  }

  async stats(): Promise<port.StoreStats> {
    const kept = (await this.#channel.write({ kind: 'stats' })) as Omit<port.StoreStats, 'bytes'>
    return { ...kept, bytes: this.#bytes() }
  }

  onLog(listener: (entries: readonly port.LogEntry[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  reserveStartIds(count: number): Promise<number> {
    return this.#channel.write({ kind: 'reserveStartIds', count }) as Promise<number>
  }

  async close(): Promise<void> {
    await this.#channel.write({ kind: 'markCleanStop' })
    await this.#channel.close()
  }

  #task(row: TaskRow): Task {
    const task = unpackTask(row)
    this.#storedSpecs.add(task.spec)
    return task
  }

  /** Answers come in commit order, so the entries do too. */
  #publish(pending: readonly PendingEntry[], outcome: UpdateOutcome): void {
    if (this.#listeners.size === 0) return
    const entries: port.LogEntry[] = []
    pending.forEach((entry, i) => {
      const position = outcome.positions[i] as number
      if (position > 0) entries.push({ ...entry, position, commitTime: outcome.commitTime })
    })
    if (entries.length > 0) for (const listener of this.#listeners) listener(entries)
  }

  #bytes(): number {
    if (this.#options.folder === ':memory:') return 0
    let bytes = 0
    for (const suffix of ['', '-wal'])
      bytes += statSync(join(this.#options.folder, STORE_FILE + suffix), { throwIfNoEntry: false })?.size ?? 0
    return bytes
  }
}
