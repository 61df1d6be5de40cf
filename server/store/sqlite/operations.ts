import type { ConsumerOperation } from './consumers.js'
import type { Instant } from '../../task/instant.js'
import type { AttemptStart, LogFilter, LogPosition, TaskQuery } from '../task-store.js'
import type { TaskRow } from './task-codec.js'

/** New tasks, column by column: one JSON list and a few blobs a batch instead of a statement a row. */
export interface InsertColumns {
  /** `idKey` of each. */
  readonly keys: readonly string[]
  readonly shards: readonly number[]
  readonly handlers: readonly string[]
  readonly states: readonly number[]
  readonly paused: readonly number[]
  readonly priorities: readonly number[]
  readonly dues: readonly number[]
  readonly notBefores: readonly number[]
  readonly created: readonly number[]
  /** 1 = a scheduler holds it at once. */
  readonly nears: readonly number[]
  /** null = all rows are without progress. */
  readonly progress: readonly (string | null)[] | null
  /** The packed specs one after another. */
  readonly specs: Uint8Array
  readonly specBytes: readonly number[]
}

/** One task's new state. */
export interface PackedTransition {
  readonly arrival: number
  /** Fence: refused when the stored start id is larger. */
  readonly startId: number
  readonly reopen: boolean
  /** Live: the row to store. Ended: undefined. */
  readonly live: TaskRow | undefined
  /** Store `live.spec` too: it is another than before. */
  readonly newSpec: boolean
  /** Ended: what the list of ended tasks holds. */
  readonly ended:
    | { readonly key: string; readonly due: number; readonly state: number; readonly handler: string }
    | undefined
  /** Which of the operation's entries are its own: from (inclusive) to (exclusive). The last one is its result if it ended. */
  readonly entriesFrom: number
  readonly entriesTo: number
  /** Runs whose results are among the entries, by entry: what `runs` remembers when the task lives on. */
  readonly runs: readonly number[]
}

export interface PackedUpdate {
  readonly now: Instant
  readonly transitions: readonly PackedTransition[]
  /** Packed entries one after another (see log-body). */
  readonly entries: Uint8Array
  readonly entryEnds: readonly number[]
}

/** What the writer is asked to do. All of a group are done in one transaction, in order. */
export type WriteOperation =
  | { readonly kind: 'insert'; readonly columns: InsertColumns }
  | { readonly kind: 'start'; readonly starts: readonly AttemptStart[] }
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
  | { readonly kind: 'positionAt'; readonly since: Instant }

export type Operation = WriteOperation | ReadOperation

/** Answer to an update: which transitions were refused (with the row as it is stored), and where the entries of the others stand. */
export interface UpdateOutcome {
  readonly refused: readonly { readonly index: number; readonly stored: TaskRow | undefined }[]
  /** Position of each entry; 0 = its transition was refused. */
  readonly positions: readonly number[]
  readonly commitTime: Instant
}

/** Answer to an insert: the first arrival number, and what was known already. */
export interface InsertOutcome {
  /** Row i has arrival `firstArrival + i`, unless it is in `known`. */
  readonly firstArrival: number
  readonly logPosition: LogPosition
  readonly known: readonly {
    readonly index: number
    readonly row: TaskRow
    readonly logPosition: LogPosition
  }[]
}
