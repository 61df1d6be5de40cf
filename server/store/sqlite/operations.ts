import type { ConsumerOperation } from './consumers.js'
import type { Instant } from '../../task/instant.js'
import type { LogFilter, LogPosition, PurgeRules, TaskQuery } from '../task-store.js'

/** New tasks of one call: a text and two buffers, whatever their number. */
export interface PackedInsert {
  readonly now: Instant
  readonly count: number
  /** `idKey` of each, as a JSON list. */
  readonly keys: string
  /** The names that `handler` counts in. */
  readonly handlers: readonly string[]
  /** INSERT.width numbers a task. */
  readonly numbers: Float64Array
  /** Head and spec of each, one after another. */
  readonly bytes: Uint8Array
}

/** Numbers of a task to insert. `near`: 1 = a scheduler holds it at once. */
export const INSERT = { handler: 0, headBytes: 1, specBytes: 2, near: 3, width: 4 } as const

/** Attempts that have begun: START.width numbers each. */
export interface PackedStarts {
  readonly count: number
  readonly numbers: Float64Array
}

export const START = { arrival: 0, startId: 1, startTimeUs: 2, attempts: 3, width: 4 } as const

export interface PackedUpdate {
  readonly now: Instant
  readonly count: number
  readonly handlers: readonly string[]
  /** UPDATE.width numbers a transition. */
  readonly numbers: Float64Array
  /** Entries of all transitions, one after another (log-entry-codec). */
  readonly entries: Uint8Array
  /** Head and spec of each task that lives on. */
  readonly live: Uint8Array
}

/** Numbers of a transition. `reopen`, `ended`: 1 = yes. */
export const UPDATE = {
  arrival: 0,
  startId: 1,
  handler: 2,
  due: 3,
  state: 4,
  ended: 5,
  reopen: 6,
  entries: 7,
  entryBytes: 8,
  headBytes: 9,
  specBytes: 10,
  width: 11,
} as const

/** What the writer is asked to do. All of a group are done in one transaction, in order. */
export type WriteOperation =
  | { readonly kind: 'insert'; readonly insert: PackedInsert }
  | { readonly kind: 'start'; readonly starts: PackedStarts }
  | { readonly kind: 'update'; readonly update: PackedUpdate }
  | {
      readonly kind: 'takeWindow'
      readonly now: Instant
      readonly through: Instant
      readonly limit: number
      readonly priorityStepMs: number
    }
  | { readonly kind: 'giveBack'; readonly arrivals: readonly number[] }
  | { readonly kind: 'nextWaiting' }
  | { readonly kind: 'get'; readonly ids: readonly string[] }
  | { readonly kind: 'findResult'; readonly id: string; readonly run: number | undefined }
  | { readonly kind: 'reserveStartIds'; readonly count: number }
  | { readonly kind: 'stats' }
  | { readonly kind: 'recover' }
  | ConsumerOperation
  | { readonly kind: 'purge'; readonly rules: PurgeRules }
  | { readonly kind: 'tidy' }
  | { readonly kind: 'markCleanStop' }

/** What only reads, on a connection of its own. */
export type ReadOperation =
  | { readonly kind: 'list'; readonly query: TaskQuery }
  | {
      readonly kind: 'readLog'
      readonly after: LogPosition
      readonly filter: LogFilter
      readonly maxEntries: number
      readonly maxBytes: number
    }
  | { readonly kind: 'lookUp'; readonly id: string }
  | { readonly kind: 'positionAt'; readonly since: Instant }

export type Operation = WriteOperation | ReadOperation

/** Answer to an insert. Task i has arrival `firstArrival + i`, unless it was known. */
export interface InsertOutcome {
  readonly firstArrival: number
  readonly logPosition: LogPosition
  readonly known?: KnownTasks
}

/** Tasks whose ids were remembered. */
export interface KnownTasks {
  readonly indexes: readonly number[]
  readonly logPositions: readonly LogPosition[]
  /** See task-rows. */
  readonly rows: Uint8Array
}

/** Answer to an update. The entries of what was not refused stand in order from `firstPosition` on. */
export interface UpdateOutcome {
  readonly firstPosition: LogPosition
  readonly commitTime: Instant
  readonly refused?: {
    readonly indexes: readonly number[]
    /** Of these, which are stored at all. */
    readonly known: readonly boolean[]
    readonly rows: Uint8Array
  }
}

/** Answer to a `get`: the rows of those that are known. */
export interface Found {
  readonly known: readonly boolean[]
  readonly rows: Uint8Array
}

/** Answer to a `lookUp`: rows and a page with one of each at most. */
export interface LookedUp {
  readonly rows: Uint8Array
  readonly page: Uint8Array
}

/** Answer to `recover`. */
export interface RecoveryOutcome {
  readonly cleanStop: boolean
  readonly logId: string
  readonly lastChange: Instant
  /** Of the tasks that a scheduler held. */
  readonly rows: Uint8Array
  /** What durability rests on, as the connection has it. */
  readonly pragmas: Readonly<Record<string, string | number>>
}
