import { TaskFailedError } from './errors.js'
import type { CallOptions, WaitOptions } from './options.js'
import type { TaskInfo, TaskState } from './task-info.js'
import type { Succeeded, TaskResult } from './task-result.js'

/** Options of a cancel. */
export interface CancelOptions extends CallOptions {
  /** How long a running attempt may go on after it was told to stop. Default 1,000, at most 1 h. */
  readonly graceMs?: number
}

/** What a handle asks of its client: one object for all handles. @internal */
export interface HandleCalls<Stored extends StoredTask = StoredTask> {
  result(stored: Stored, options: WaitOptions): Promise<TaskResult>
  cancel(id: string, options?: CancelOptions): Promise<TaskInfo>
  get(id: string, options?: CallOptions): Promise<{ readonly task: TaskInfo }>
}

/** What the server said when the task was stored. */
export interface StoredTask {
  readonly id: string
  readonly handler: string
  readonly created: boolean
  readonly dueTime?: Date | undefined
}

/** A task on the server. Plain to pass around: it holds an id, no connection of its own. */
export class TaskHandle<Name extends string = string, Output = unknown> {
  readonly #stored: StoredTask
  readonly #calls: HandleCalls
  #final: TaskResult | undefined

  /** @internal Made by `client.schedule()` and `client.task()`. */
  constructor(stored: StoredTask, calls: HandleCalls) {
    this.#stored = stored
    this.#calls = calls
  }

  get id(): string {
    return this.#stored.id
  }

  /** '' for a handle made by `client.task(id)`. */
  get handler(): Name {
    return this.#stored.handler as Name
  }

  /** False: the id was known, and this is the task that was stored before. */
  get created(): boolean {
    return this.#stored.created
  }

  /** Due time of the (first) run, as the server has it. */
  get dueTime(): Date | undefined {
    return this.#stored.dueTime
  }

  /**
   * Waits until the task has ended well and gives its result; of a recurring task, the next run to end (skipped runs are passed over),
   * or the `run` asked for. Any number of tasks can be waited for at once: they share one stream.
   *
   * @throws {@link TaskFailedError} when it ended otherwise; its `result` tells how.
   * @example const { output } = await task.result()
   */
  async result(options: WaitOptions = {}): Promise<Succeeded<Name, Output>> {
    const result = await this.ended(options)
    if (result.outcome !== 'succeeded') throw new TaskFailedError(result)
    return result
  }

  /** As {@link result}, but gives the result also when the task failed, was cancelled or expired. */
  async ended(options: WaitOptions = {}): Promise<TaskResult<Name, Output>> {
    const known = this.#final
    if (known !== undefined && (options.run ?? known.run) === known.run) {
      return known as TaskResult<Name, Output>
    }
    const result = await this.#calls.result(this.#stored, options)
    if (result.last) this.#final = result
    return result as TaskResult<Name, Output>
  }

  /**
   * Cancels the task: waiting, it never starts; running, it is told to stop, and after the grace stopped by force. Cancelling twice is fine.
   *
   * @throws {@link TaskEndedError} when it has ended otherwise; {@link TaskNotFoundError}.
   */
  cancel(options?: CancelOptions): Promise<TaskInfo> {
    return this.#calls.cancel(this.id, options)
  }

  /** Where the task stands now. */
  async state(options?: CallOptions): Promise<TaskState> {
    return (await this.#calls.get(this.id, options)).task.state
  }

  /** So that a handle reads well in a log. */
  toJSON(): StoredTask {
    const { id, handler, created, dueTime } = this
    return { id, handler, created, ...(dueTime && { dueTime }) }
  }
}
