import type { Violation } from '../task/errors.js'
import type { Payload } from '../task/task-spec.js'

/** What the rest of the server knows of a loaded handler: never its code. */
export interface HandlerInfo {
  readonly name: string
  readonly description: string
  readonly lane: 'thread' | 'shared'
  /** JSON Schema, where the handler's schema library can give one. */
  readonly inputSchema?: Readonly<Record<string, unknown>>
  readonly outputSchema?: Readonly<Record<string, unknown>>
  /** Attempts of this handler at once; 0 = as many as the lane has slots. */
  readonly maxConcurrent: number
  /** Heap of a thread that runs it, in MiB; the executor's default when unset. Lane `thread` only. */
  readonly memoryLimitMb?: number
}

/** The handlers that the operator loaded. */
export interface HandlerCatalogue {
  get(name: string): HandlerInfo | undefined
  /** By name. */
  list(): readonly HandlerInfo[]
  /**
   * Checks an input against the handler's schema; `[]` = good. Fields of violations start with `task.input`. Synchronous when the schema is, so that the hot path
   * does not pay a promise.
   */
  checkInput(name: string, payload: Payload): readonly Violation[] | Promise<readonly Violation[]>
}
