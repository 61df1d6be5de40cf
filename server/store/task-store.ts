import type { Instant } from '../task/instant.js'
import type { ResultOutcome, TaskResult, Transition } from '../task/result.js'
import type { NewTask, Task, TaskState } from '../task/task.js'
import type { Labels } from '../task/task-spec.js'

/** Position in the log: entries at larger positions were committed later. 0 = before the first. */
export type LogPosition = number

/** What one insert became. `logPosition`: results of this task come after it. */
export type InsertAnswer =
  | { readonly kind: 'created'; readonly task: Task; readonly logPosition: LogPosition }
  | { readonly kind: 'exists'; readonly task: Task; readonly logPosition: LogPosition }

export interface InsertRequest {
  readonly task: NewTask
  /** The scheduler takes it into memory at once: the store need not find it by due time before a restart. */
  readonly near: boolean
}

/** An attempt that has begun. */
export interface AttemptStart {
  readonly arrival: number
  readonly startId: number
  readonly startTimeUs: number
  readonly attempts: number
}

/** What became of a transition: refused when a newer start (or an end) is already stored. */
export type UpdateAnswer =
  | { readonly kind: 'stored' }
  | { readonly kind: 'refused'; readonly stored: Task | undefined }

/** What a process finds when it opens the store. */
export interface Recovery {
  /** Every task that had been handed to a scheduler (`near`, or taken by `takeWindow`) and has not ended, as it was last stored. */
  readonly tasks: readonly Task[]
  /** False: the process before did not close the store; its RUNNING tasks were interrupted. */
  readonly cleanStop: boolean
  readonly logId: string
  /** What `now()` was at the last insert or update that is on disk: later than it is now, then the clock was set back meanwhile. 0: there was none. */
  readonly lastChange: Instant
}

export interface LogFilter {
  readonly taskIds: ReadonlySet<string>
  readonly handlers: ReadonlySet<string>
  readonly labels: Labels
  readonly outcomes: ReadonlySet<ResultOutcome>
  readonly origins: ReadonlySet<string>
  /** Also entries of kind 'attempt'. */
  readonly includeAttempts: boolean
}

/** An entry as the log keeps it: what filters look at, and the encoded result (without sequence and commit time). */
export interface LogEntry {
  readonly position: LogPosition
  readonly commitTime: Instant
  readonly kind: TaskResult['kind']
  readonly taskId: string
  readonly handler: string
  readonly outcome: ResultOutcome
  readonly origin: string
  readonly labels: Labels
  readonly run: number
  readonly bytes: Uint8Array
}

/** Whether a filter lets an entry through: fields are combined with AND, values of one field with OR, an empty field matches all. */
export function matches(
  filter: LogFilter,
  entry: Omit<LogEntry, 'position' | 'commitTime' | 'bytes'>,
): boolean {
  if (entry.kind === 'attempt' && !filter.includeAttempts) return false
  if (filter.taskIds.size > 0 && !filter.taskIds.has(entry.taskId)) return false
  if (filter.handlers.size > 0 && !filter.handlers.has(entry.handler)) return false
  if (filter.outcomes.size > 0 && !filter.outcomes.has(entry.outcome)) return false
  if (filter.origins.size > 0 && !filter.origins.has(entry.origin)) return false
  for (const key in filter.labels)
    if (!Object.hasOwn(entry.labels, key) || entry.labels[key] !== filter.labels[key]) return false
  return true
}

export interface LogPage {
  readonly entries: readonly LogEntry[]
  /** Everything up to here has been looked at, and nothing can be committed at or before it any more. */
  readonly through: LogPosition
}

/** A durable consumer of the log, as it is kept. */
export interface StoredConsumer {
  readonly name: string
  /** Everything up to here is done with. */
  readonly position: LogPosition
  readonly filter: LogFilter
  /** What it has not read may be removed. */
  readonly lossy: boolean
  readonly createTime: Instant
  /** When it last read or acknowledged. */
  readonly activeTime: Instant
}

export interface TaskQuery {
  readonly states: readonly TaskState[]
  readonly handlers: readonly string[]
  readonly labels: Labels
  readonly dueFrom?: Instant
  readonly dueBefore?: Instant
  /** Keyset: after this (due time, id). */
  readonly after?: { readonly dueTime: Instant; readonly id: string }
  readonly limit: number
}

export interface TaskPage {
  readonly tasks: readonly Task[]
  /** Where the next page starts; absent = nothing follows. May be set on a short page: the store looked at 10,000 rows. */
  readonly next?: { readonly dueTime: Instant; readonly id: string }
}

/** What retention lets go of. */
export interface PurgeRules {
  readonly now: Instant
  /** Results that were committed before this go, by their outcome. */
  readonly before: Readonly<Record<ResultOutcome, Instant>>
  /** Results take at most so many bytes: beyond it the oldest go, of these the failed ones last. */
  readonly maxBytes: number
  /** What comes after this position stays: somebody has still to read it. */
  readonly keepAfter: LogPosition
  /** About how many entries one step may look at, so that it never holds up a commit. */
  readonly maxEntries: number
}

/** What a step of retention has removed. */
export interface PurgeStep {
  readonly entries: number
  /** Tasks that are not known any more, nor their ids. */
  readonly tasks: number
  /** Another step would find something. */
  readonly more: boolean
}

export interface StoreStats {
  readonly states: Readonly<Record<TaskState, number>>
  /** In use; what was freed is used again before the files grow. */
  readonly bytes: number
  /** Of these, the results. */
  readonly resultBytes: number
  /** Entries after `earliest`. */
  readonly logEntries: number
  /** Position before the oldest entry that can be read: before it something was removed. */
  readonly earliest: LogPosition
  /** Position of the newest entry. */
  readonly latest: LogPosition
}

/** Encodes a result once, for the log and the wire. Given by the edge, so that the store knows nothing of protobuf. */
export type EncodeResult = (result: TaskResult) => Uint8Array

/**
 * The durable truth about tasks. It remembers and decides nothing: every new state is computed by the pure rules in `task/`.
 * Calls take effect in the order in which they were made. Each promise is proved for every store by `test/store/store-contract.ts`.
 */
export interface TaskStore {
  /** The instant that decides what is due: the machine's clock here, the database's with several nodes. */
  now(): Instant

  /** Opens: called once, before anything else. @throws StoreOpenError with one clear line; the file is left unchanged. */
  open(): Promise<Recovery>

  /** Keeps the tasks, on disk once this resolves, one answer each in order. An id that is remembered keeps nothing and answers its task. */
  insert(requests: readonly InsertRequest[]): Promise<readonly InsertAnswer[]>

  /** Notes that attempts have begun. Batched; nobody needs to wait, unless the task is at-most-once or a crash must be counted. */
  start(starts: readonly AttemptStart[]): Promise<void>

  /**
   * Stores each task's new state and its log entries, all in one transaction. Refused, alone, when the stored task has a newer `startId`, or has
   * ended and `reopen` is not set.
   */
  update(
    transitions: readonly (Transition & { readonly reopen?: boolean })[],
  ): Promise<readonly UpdateAnswer[]>

  /**
   * Hands out waiting (SCHEDULED, not paused) tasks that no scheduler holds: those with `notBefore <= through`, at most `limit`, smallest start key first among
   * the due, then by `notBefore`. Each is handed out once, until `giveBack` or a restart.
   */
  takeWindow(query: {
    readonly now: Instant
    readonly through: Instant
    readonly limit: number
  }): Promise<readonly Task[]>

  /** Gives tasks back that do not fit into memory: `takeWindow` may hand them out again. */
  giveBack(arrivals: readonly number[]): Promise<void>

  /** The earliest `notBefore` among waiting tasks that no scheduler holds. */
  nextWaiting(): Promise<Instant | undefined>

  /** Tasks by id, in order, as of every call made before this one. */
  get(ids: readonly string[]): Promise<readonly (Task | undefined)[]>

  /** A page of tasks, ordered by (due time, id). Read beside the writer, never in its way. */
  list(query: TaskQuery): Promise<TaskPage>

  /** Entries after a position (or after `earliest`, if that is later), in order, at most `maxEntries` or about `maxBytes`. Looks at a bounded stretch, so a page may be empty although `through` moved. */
  readLog(query: {
    readonly after: LogPosition
    readonly filter: LogFilter
    readonly maxEntries: number
    readonly maxBytes: number
  }): Promise<LogPage>

  /** The newest result (kind 'result') of a task, or that of one run. */
  findResult(taskId: string, run?: number): Promise<LogEntry | undefined>

  /**
   * A task and its newest result, as they stood on disk at one moment. What was acknowledged before is there; what is being written may not be. Read beside the writer,
   * so that nobody waits for the commit of somebody else's ten thousand tasks.
   */
  lookUp(id: string): Promise<{ readonly task: Task | undefined; readonly result: LogEntry | undefined }>

  /** The position before the first entry committed at `since` or later. */
  positionAt(since: Instant): Promise<LogPosition>

  /** The durable consumers, by name. */
  consumers(): Promise<readonly StoredConsumer[]>

  /** Keeps a consumer, on disk once this resolves; one of this name is replaced. */
  keepConsumer(consumer: StoredConsumer): Promise<void>

  /** Moves a consumer, forward only, on disk once this resolves. An unknown name changes nothing. */
  moveConsumer(name: string, position: LogPosition, activeTime: Instant): Promise<void>

  /** Forgets a consumer. An unknown name changes nothing. */
  forgetConsumer(name: string): Promise<void>

  /** Kept in the transactions, exact over restarts, never a scan. */
  stats(): Promise<StoreStats>

  /** Calls back after each commit that added log entries, with these entries, in order. Returns the way to stop. */
  onLog(listener: (entries: readonly LogEntry[]) => void): () => void

  /**
   * Removes results that need not be kept, in one small step. A task that has ended goes with its last result, but its id is remembered for as long as its spec
   * asks, with all of the task but a large input. What failed and is kept longer than what came with it is found by task, not in the log.
   */
  purge(rules: PurgeRules): Promise<PurgeStep>

  /** Cuts the files to what they hold; called when nothing else is going on. */
  tidy(): Promise<void>

  /** Reserves start ids that no process has used or will use: the first of `count`. */
  reserveStartIds(count: number): Promise<number>

  /** Commits what is under way and closes; a clean stop. */
  close(): Promise<void>
}

/** The start of a store that cannot be used: what is wrong with which path, and what would be right. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError'
}
