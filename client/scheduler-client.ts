import { OutputFormat } from '../proto/generated/punctual/v1/result.js'
import { SchedulerServiceService as service } from '../proto/generated/punctual/v1/scheduler_service.js'
import type { Task } from '../proto/generated/punctual/v1/task.js'
import type { HandlerName, HandlerSet } from '../server/handlers/index.js'
import { Calls } from './calls.js'
import { Connection } from './connection.js'
import { PunctualError } from './errors.js'
import { knownTaskResult } from './known-task-result.js'
import { type ListOptions, listTasks } from './list-tasks.js'
import { type CallOptions, type ClientOptions, completeOptions, type WaitOptions } from './options.js'
import { newId } from './own-id.js'
import {
  type PreviewedDueTime,
  type Recurrence,
  toPreviewedDueTime,
  toRecurrenceMessage,
} from './recurrence.js'
import { type ResultOptions, ResultStream, type StreamParts } from './result-stream.js'
import type { ScheduleOptions, TaskOptions } from './schedule-options.js'
import {
  type ConsumerInfo,
  type HandlerInfo,
  type ServerInfo,
  type ServerStats,
  toConsumerInfo,
  toHandlerInfo,
  toServerInfo,
  toServerStats,
} from './stats.js'
import { type CancelOptions, type HandleCalls, TaskHandle } from './task-handle.js'
import { type TaskInfo, toTaskInfo } from './task-info.js'
import { type TaskResult, toTaskResult } from './task-result.js'
import { type ScheduledTask, TaskScheduling } from './task-scheduling.js'
import {
  type SelectionReport,
  type TaskSelection,
  toSelectionMessage,
  toSelectionReport,
} from './task-selection.js'
import type {
  AnyHandlers,
  InputOf,
  OutputOf,
  ResultOf,
  ScheduleArguments,
  TaskRequest,
} from './typed-handlers.js'
import { toDuration, toTimestamp } from './wire-time.js'

/**
 * A client of one server. Make one for a process and share it: it holds one connection, gathers calls, and waits for all results with one
 * stream. Every call has a deadline and takes an AbortSignal; every error is a {@link PunctualError}.
 */
export class SchedulerClient<Handlers extends HandlerSet = AnyHandlers> implements AsyncDisposable {
  /** Marks the tasks of this client object: `results({ filter: { origins: [client.origin] } })` reads theirs. */
  readonly origin: string = newId()
  readonly #calls: Calls
  readonly #scheduling: TaskScheduling
  readonly #stream: StreamParts
  /** For tasks that this client scheduled, and for those that it only knows by id. */
  readonly #ofScheduled: HandleCalls<ScheduledTask>
  readonly #ofKnown: HandleCalls

  /** @internal Use {@link createClient}. */
  constructor(given: ClientOptions) {
    const options = completeOptions(given)
    const connection = new Connection(options)
    const calls = new Calls(connection, options)
    this.#calls = calls
    const scheduling = new TaskScheduling({ connection, options, calls, origin: this.origin })
    this.#scheduling = scheduling
    const one = { cancel: this.cancel.bind(this), get: this.get.bind(this) }
    this.#ofScheduled = { ...one, result: (stored, wait) => scheduling.result(stored, wait) }
    this.#ofKnown = { ...one, result: ({ id }, wait) => this.wait(id, wait) }
    this.#stream = {
      connection,
      options,
      scopes: calls.waits,
      acknowledge: (consumer, cursor) => calls.acknowledge({ consumer, cursor }),
    }
  }

  /**
   * Stores a task that runs at `dueTime`, after `delayMs`, by a `recurrence`, or at once. It is on the server's disk when this resolves.
   *
   * @throws {@link TaskRejectedError} when the server refuses it (`violations` names every field); {@link TaskExistsError} when the id is
   * taken by another spec; {@link DeadlineExceededError} or an AbortError, which say whether the task may be stored.
   * @example
   * const task = await client.schedule('fibonacci', { n: 30 }, { dueTime: new Date('2030-01-01') })
   * const { output } = await task.result()
   */
  async schedule<Name extends HandlerName<Handlers>>(
    handler: Name,
    ...[input, options = {}]: ScheduleArguments<InputOf<Handlers, Name>, ScheduleOptions>
  ): Promise<TaskHandle<Name, OutputOf<Handlers, Name>>> {
    return new TaskHandle(await this.#scheduling.schedule(handler, input, options), this.#ofScheduled)
  }

  /** Stores many tasks in few calls. One answer for each, in order: its handle, or why it was refused; one bad task spoils no other. */
  scheduleMany(
    tasks: readonly TaskRequest<Handlers>[],
    call: CallOptions = {},
  ): Promise<readonly (TaskHandle | PunctualError)[]> {
    return Promise.all(
      tasks.map(async ({ handler, input, ...options }) => {
        try {
          const stored = await this.#scheduling.schedule(
            handler,
            input,
            { ...(options as TaskOptions), ...call },
            true,
          )
          return new TaskHandle(stored, this.#ofScheduled)
        } catch (error) {
          if (error instanceof PunctualError) return error
          throw error
        }
      }),
    )
  }

  /** A handle of a task by its id, whoever scheduled it. Asks the server nothing. */
  task(id: string): TaskHandle {
    return new TaskHandle({ id, handler: '', created: false }, this.#ofKnown)
  }

  /** Waits until a task has ended, whoever scheduled it; of a recurring one, for its next run to end or the `run` asked for. */
  wait(id: string, options: WaitOptions = {}): Promise<TaskResult> {
    const wanted = { taskId: id, run: options.run }
    return this.#calls.wait(options, (scope) =>
      knownTaskResult(wanted, this.#calls.tries, scope, this.#calls.rules()),
    )
  }

  /** Cancels a task; see {@link TaskHandle.cancel}. Answers 'running' with `cancelRequested` when an attempt has to stop first. */
  async cancel(id: string, { graceMs, ...call }: CancelOptions = {}): Promise<TaskInfo> {
    const grace = graceMs === undefined ? undefined : toDuration(graceMs, 'graceMs')
    return taskOf(await this.#calls.call(service.cancel, { id, grace }, call))
  }

  /** Cancels many tasks, by id or filter; with a filter at most 10,000 a call: repeat until `count` is 0. */
  async cancelMany(
    selection: TaskSelection,
    { graceMs, dryRun = false, ...call }: CancelOptions & { readonly dryRun?: boolean } = {},
  ): Promise<SelectionReport> {
    const grace = graceMs === undefined ? undefined : toDuration(graceMs, 'graceMs')
    const request = { ...toSelectionMessage(selection), grace, dryRun }
    return toSelectionReport(await this.#calls.call(service.cancelBatch, request, call))
  }

  /** Runs ended tasks once more with the spec they had, by id or filter (states 'failed', 'expired', 'cancelled'): after an outage. */
  async retryMany(
    selection: TaskSelection,
    { dryRun = false, ...call }: CallOptions & { readonly dryRun?: boolean } = {},
  ): Promise<SelectionReport> {
    const request = { ...toSelectionMessage(selection), dryRun }
    return toSelectionReport(await this.#calls.call(service.retryBatch, request, call, false))
  }

  /** A task and its newest result, if one is kept. @throws {@link TaskNotFoundError} */
  async get(id: string, call: CallOptions = {}): Promise<{ task: TaskInfo; result?: TaskResult }> {
    const request = { id, outputFormat: OutputFormat.JSON }
    const answer = await this.#calls.call(service.getTask, request, call)
    return { task: taskOf(answer), ...(answer.result && { result: toTaskResult(answer.result) }) }
  }

  /** Tasks by filter, ordered by due time and id, read page by page as the loop goes on. */
  list(options: ListOptions = {}): AsyncGenerator<TaskInfo, void, void> {
    const { deadlineMs, signal } = options
    const call = { ...(deadlineMs !== undefined && { deadlineMs }), ...(signal && { signal }) }
    return listTasks((request) => this.#calls.call(service.listTasks, request, call), options)
  }

  /**
   * The results that match, from a start point on and then live; see {@link ResultStream}.
   *
   * @example
   * for await (const result of client.results({ from: 'earliest', untilCaughtUp: true })) console.log(result.taskId, result.outcome)
   */
  results<Name extends HandlerName<Handlers> = HandlerName<Handlers>>(
    options: ResultOptions<Name> = {},
  ): ResultStream<ResultOf<Handlers, Name>> {
    return new ResultStream(this.#stream, options)
  }

  /** No run of the task starts until {@link resume}. Repeating is harmless. */
  async pause(id: string, call: CallOptions = {}): Promise<TaskInfo> {
    return taskOf(await this.#calls.call(service.pause, { id }, call))
  }

  /** Ends a pause. Repeating is harmless. */
  async resume(id: string, call: CallOptions = {}): Promise<TaskInfo> {
    return taskOf(await this.#calls.call(service.resume, { id }, call))
  }

  /** Starts one run now, beside the rhythm, never beside another run of the task. */
  async runNow(id: string, call: CallOptions = {}): Promise<TaskInfo> {
    // a second one, after an answer that was lost, could be a second run
    return taskOf(await this.#calls.call(service.runNow, { id }, call, false))
  }

  /** The next due times of a recurrence, each with what a clock change does to it. Stores nothing. */
  async preview(
    recurrence: Recurrence,
    options: CallOptions & { readonly from?: Date; readonly count?: number; readonly taskId?: string } = {},
  ): Promise<readonly PreviewedDueTime[]> {
    const { from, count = 10, taskId = '', ...call } = options
    const request = {
      recurrence: toRecurrenceMessage(recurrence),
      from: from && toTimestamp(from, 'from'),
      count,
      taskId,
    }
    const { dueTimes } = await this.#calls.call(service.previewRecurrence, request, call)
    return dueTimes.map(toPreviewedDueTime)
  }

  /** What the server can run. */
  async handlers(call: CallOptions = {}): Promise<readonly HandlerInfo[]> {
    return (await this.#calls.call(service.listHandlers, {}, call)).handlers.map(toHandlerInfo)
  }

  /** Counts, percentiles, slots, store, consumers, and what the server's watchdog has found. */
  async stats(call: CallOptions = {}): Promise<ServerStats> {
    return toServerStats(await this.#calls.call(service.getStats, {}, call))
  }

  /** Version, clock, limits and features of the server. */
  async serverInfo(call: CallOptions = {}): Promise<ServerInfo> {
    return toServerInfo(await this.#calls.call(service.getServerInfo, {}, call))
  }

  /** The durable consumers of the result log, with their lag. */
  async consumers(call: CallOptions = {}): Promise<readonly ConsumerInfo[]> {
    return (await this.#calls.call(service.listConsumers, {}, call)).consumers.map(toConsumerInfo)
  }

  /** Forgets a durable consumer and its position. */
  async deleteConsumer(consumer: string, call: CallOptions = {}): Promise<void> {
    await this.#calls.call(service.deleteConsumer, { consumer }, call)
  }

  /**
   * Ends streams and waits, lets calls that are under way finish (at most 5 s), and lets go of the connection, so that the process can
   * exit. A second time is fine; other calls reject with a {@link ClientClosedError} from now on.
   */
  close(): Promise<void> {
    this.#scheduling.close()
    return this.#calls.close()
  }

  /** So that `await using client = createClient(…)` closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/**
 * Makes a client. It connects when it is first used, and again whenever the connection was lost.
 *
 * @typeParam Handlers - The type of the handlers that the server has loaded: names, inputs and outputs are checked by it. Only the type is
 * used; the handlers' code stays out of the caller's program.
 * @throws RangeError naming the option that is wrong.
 * @example
 * import type { handlers } from './handlers.js'
 * await using client = createClient<typeof handlers>({ address: 'localhost:50051' })
 */
export function createClient<Handlers extends HandlerSet = AnyHandlers>(
  options: ClientOptions,
): SchedulerClient<Handlers> {
  return new SchedulerClient(options)
}

function taskOf({ task }: { readonly task?: Task | undefined }): TaskInfo {
  if (task === undefined) throw new PunctualError({ message: 'the server answered without a task' })
  return toTaskInfo(task)
}
