import type { Instant } from '../../task/instant.js'
import type { ResultOutcome } from '../../task/result.js'
import type { Labels } from '../../task/task-spec.js'
import type { LogFilter, LogPosition, StoredConsumer } from '../task-store.js'
import type { Connection } from './connection.js'

/** What is asked about durable consumers. */
export type ConsumerOperation =
  | { readonly kind: 'consumers' }
  | { readonly kind: 'keepConsumer'; readonly consumer: StoredConsumer }
  | {
      readonly kind: 'moveConsumer'
      readonly name: string
      readonly position: LogPosition
      readonly activeTime: Instant
    }
  | { readonly kind: 'forgetConsumer'; readonly name: string }

interface Row {
  name: string
  position: number
  filter: string
  lossy: number
  created: number
  active: number
}

/** A filter as it is kept: JSON has lists, no sets. */
interface FilterText {
  taskIds: string[]
  handlers: string[]
  labels: Labels
  outcomes: ResultOutcome[]
  origins: string[]
  includeAttempts: boolean
}

/** The durable consumers of the log: few rows, found by name. */
export class ConsumerRows {
  readonly #all
  readonly #keep
  readonly #move
  readonly #forget

  constructor(connection: Connection) {
    this.#all = connection.prepare("SELECT * FROM consumers WHERE namespace = '' ORDER BY name")
    this.#keep = connection.prepare("INSERT OR REPLACE INTO consumers VALUES ('', ?, ?, ?, ?, ?, ?)")
    this.#move = connection.prepare(
      "UPDATE consumers SET position = max(position, ?), active = max(active, ?) WHERE namespace = '' AND name = ?",
    )
    this.#forget = connection.prepare("DELETE FROM consumers WHERE namespace = '' AND name = ?")
  }

  run(operation: ConsumerOperation): unknown {
    switch (operation.kind) {
      case 'consumers':
        return (this.#all.all() as Row[]).map(fromRow)
      case 'keepConsumer': {
        const { name, position, filter, lossy, createTime, activeTime } = operation.consumer
        this.#keep.run(name, position, toText(filter), Number(lossy), createTime, activeTime)
        return undefined
      }
      case 'moveConsumer':
        return void this.#move.run(operation.position, operation.activeTime, operation.name)
      case 'forgetConsumer':
        return void this.#forget.run(operation.name)
    }
  }
}

function fromRow({ name, position, filter, lossy, created, active }: Row): StoredConsumer {
  return {
    name,
    position,
    filter: fromText(filter),
    lossy: lossy === 1,
    createTime: created,
    activeTime: active,
  }
}

function toText({ taskIds, handlers, labels, outcomes, origins, includeAttempts }: LogFilter): string {
  const kept: FilterText = {
    taskIds: [...taskIds],
    handlers: [...handlers],
    labels,
    outcomes: [...outcomes],
    origins: [...origins],
    includeAttempts,
  }
  return JSON.stringify(kept)
}

function fromText(text: string): LogFilter {
  const { taskIds, handlers, labels, outcomes, origins, includeAttempts } = JSON.parse(text) as FilterText
  return {
    taskIds: new Set(taskIds),
    handlers: new Set(handlers),
    labels,
    outcomes: new Set(outcomes),
    origins: new Set(origins),
    includeAttempts,
  }
}
