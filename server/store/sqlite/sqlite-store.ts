import { numbered } from '../../task/draft.js'
import type { Instant } from '../../task/instant.js'
import { type Log, SILENT } from '../../task/log.js'
import type { Payload } from '../../task/task-spec.js'
import type { Task } from '../../task/task.js'
import type * as port from '../task-store.js'
import type { Channel, StoreSettings } from './channel.js'
import { InlineChannel } from './inline-channel.js'
import { readPage } from './log-page.js'
import type { Found, InsertOutcome, LookedUp, RecoveryOutcome, UpdateOutcome } from './operations.js'
import { Packer, type PendingEntry } from './pack.js'
import { payloadHash } from './payload-hash.js'
import { readRows } from './task-rows.js'
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
  /** How long a commit waits for another program's lock on the file, in ms. Default 250: callers get UNAVAILABLE after. */
  readonly lockWaitMs?: number
  /** Bytes of the disk that new tasks leave free, so that what runs can still be ended and stored. Default 64 MiB. */
  readonly diskReserveBytes?: number
  /** Largest size of the file, in pages of 4 KiB. Default: none. */
  readonly maxPages?: number
  readonly log?: Log
  readonly now: () => Instant
  readonly encodeResult: port.EncodeResult
}

const MiB = 1024 * 1024
const STORED: port.UpdateAnswer = Object.freeze({ kind: 'stored' })

/**
 * The embedded store: SQLite in a thread of its own, with group commit.
 *
 * @example
 * const store = new SqliteStore({ folder: './data', now: () => clock.now(), encodeResult })
 * const recovery = await store.open()
 */
export class SqliteStore implements port.TaskStore {
  readonly #options: SqliteStoreOptions
  readonly #log: Log
  readonly #channel: Channel
  readonly #packer: Packer
  readonly #listeners = new Set<(entries: readonly port.LogEntry[]) => void>()
  #isOpen = false

  constructor(options: SqliteStoreOptions) {
    this.#options = options
    this.#log = options.log ?? SILENT
    this.#packer = new Packer(options.encodeResult)
    const settings: StoreSettings = {
      folder: options.folder,
      durability: options.durability ?? 'full',
      nowMs: options.now(),
      lockWaitMs: options.lockWaitMs ?? 250,
      diskReserveBytes: options.diskReserveBytes ?? 64 * MiB,
      maxPages: options.maxPages ?? 0,
    }
    this.#channel =
      options.runIn === 'inline' ? new InlineChannel(settings) : new ThreadChannel(settings, this.#log)
  }

  now(): Instant {
    return this.#options.now()
  }

  async open(): Promise<port.Recovery> {
    await this.#channel.open()
    this.#isOpen = true
    const recovered = this.#channel.write({ kind: 'recover' })
    await Promise.all([recovered, this.#channel.readable()])
    const outcome = (await recovered) as RecoveryOutcome
    const { cleanStop, logId, lastChange, rows, pragmas } = outcome
    this.#log.info('the store is open', { folder: this.#options.folder, cleanStop, ...pragmas })
    return { cleanStop, logId, lastChange, tasks: readRows(rows) }
  }

  async insert(requests: readonly port.InsertRequest[]): Promise<readonly port.InsertAnswer[]> {
    if (requests.length === 0) return []
    const insert = this.#packer.insert(this.now(), requests)
    const { firstArrival, logPosition, known } = (await this.#channel.write({
      kind: 'insert',
      insert,
    })) as InsertOutcome
    const answers: port.InsertAnswer[] = []
    let arrival = firstArrival
    for (const { task } of requests)
      answers.push({ kind: 'created', task: numbered(task, arrival++), logPosition })
    if (known)
      for (const [i, task] of readRows(known.rows).entries())
        answers[known.indexes[i] as number] = {
          kind: 'exists',
          task: recalled(task, requests[known.indexes[i] as number]?.task.spec.payload),
          logPosition: known.logPositions[i] as number,
        }
    return answers
  }

  async start(starts: readonly port.AttemptStart[]): Promise<void> {
    if (starts.length === 0) return
    await this.#channel.write({ kind: 'start', starts: this.#packer.starts(starts) })
  }

  async update(transitions: Parameters<port.TaskStore['update']>[0]): Promise<readonly port.UpdateAnswer[]> {
    if (transitions.length === 0) return []
    const { update, pending } = this.#packer.update(this.now(), transitions)
    const outcome = (await this.#channel.write({ kind: 'update', update })) as UpdateOutcome
    const answers = transitions.map(() => STORED)
    const { refused } = outcome
    if (refused) {
      const stored = readRows(refused.rows).values()
      for (const [i, index] of refused.indexes.entries())
        answers[index] = { kind: 'refused', stored: refused.known[i] ? stored.next().value : undefined }
    }
    this.#publish(transitions, pending, outcome)
    return answers
  }

  async takeWindow(query: Parameters<port.TaskStore['takeWindow']>[0]): Promise<readonly Task[]> {
    const priorityStepMs = this.#options.priorityStepMs ?? 10_000
    return readRows(
      (await this.#channel.write({ kind: 'takeWindow', ...query, priorityStepMs })) as Uint8Array,
    )
  }

  async giveBack(arrivals: readonly number[]): Promise<void> {
    if (arrivals.length > 0) await this.#channel.write({ kind: 'giveBack', arrivals })
  }

  nextWaiting(): Promise<Instant | undefined> {
    return this.#channel.write({ kind: 'nextWaiting' }) as Promise<Instant | undefined>
  }

  async get(ids: readonly string[]): Promise<readonly (Task | undefined)[]> {
    if (ids.length === 0) return []
    const { known, rows } = (await this.#channel.write({ kind: 'get', ids })) as Found
    const tasks = readRows(rows).values()
    return known.map((isKnown) => (isKnown ? tasks.next().value : undefined))
  }

  async list(query: port.TaskQuery): Promise<port.TaskPage> {
    const { rows, next } = (await this.#channel.read({ kind: 'list', query })) as {
      rows: Uint8Array
      next?: NonNullable<port.TaskPage['next']>
    }
    return { tasks: readRows(rows), ...(next ? { next } : {}) }
  }

  async readLog(query: Parameters<port.TaskStore['readLog']>[0]): Promise<port.LogPage> {
    const { page, through } = (await this.#channel.read({ kind: 'readLog', ...query })) as {
      page: Uint8Array
      through: port.LogPosition
    }
    return { entries: readPage(page), through }
  }

  async findResult(taskId: string, run?: number): Promise<port.LogEntry | undefined> {
    const page = (await this.#channel.write({ kind: 'findResult', id: taskId, run })) as Uint8Array
    return readPage(page)[0]
  }

  async lookUp(id: string): Promise<Awaited<ReturnType<port.TaskStore['lookUp']>>> {
    const { rows, page } = (await this.#channel.read({ kind: 'lookUp', id })) as LookedUp
    return { task: readRows(rows)[0], result: readPage(page)[0] }
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

  purge(rules: port.PurgeRules): Promise<port.PurgeStep> {
    return this.#channel.write({ kind: 'purge', rules }) as Promise<port.PurgeStep>
  }

  async tidy(): Promise<void> {
    await this.#channel.write({ kind: 'tidy' })
  }

  stats(): Promise<port.StoreStats> {
    return this.#channel.write({ kind: 'stats' }) as Promise<port.StoreStats>
  }

  onLog(listener: (entries: readonly port.LogEntry[]) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  reserveStartIds(count: number): Promise<number> {
    return this.#channel.write({ kind: 'reserveStartIds', count }) as Promise<number>
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    // what cannot be written now is found unclean the next time, which is safe
    await this.#channel.write({ kind: 'markCleanStop' }).catch(() => {})
    await this.#channel.close()
  }

  /** Answers come in commit order, so the entries do too. */
  #publish(
    transitions: Parameters<port.TaskStore['update']>[0],
    pending: PendingEntry[],
    { firstPosition, commitTime, refused }: UpdateOutcome,
  ): void {
    if (this.#listeners.size === 0 || pending.length === 0) return
    const stored = refused ? withoutRefused(transitions, pending, refused.indexes) : pending
    let position = firstPosition
    for (const entry of stored) {
      entry.position = position++
      entry.commitTime = commitTime
    }
    if (stored.length > 0) for (const listener of this.#listeners) listener(stored)
  }
}

/** The entries of those transitions that were stored. */
function withoutRefused(
  transitions: Parameters<port.TaskStore['update']>[0],
  pending: readonly PendingEntry[],
  refused: readonly number[],
): PendingEntry[] {
  const left = new Set(refused)
  let at = 0
  return transitions.flatMap(({ entries }, i) => {
    const own = pending.slice(at, at + entries.length)
    at += entries.length
    return left.has(i) ? [] : own
  })
}

/** A task whose input was forgotten, with this one if it is the same. */
function recalled(task: Task, payload: Payload | undefined): Task {
  const { spec } = task
  if (spec.payload.kind !== 'forgotten' || !payload || payloadHash(payload) !== spec.payload.hash) return task
  return { ...task, spec: { ...spec, payload } }
}
