import type { ScheduleRequest } from '../proto/generated/punctual/v1/scheduler_service.js'
import type { Calls } from './calls.js'
import { type ScheduleSpan, startScheduleSpan } from './client-tracing.js'
import { Coalescer } from './coalescer.js'
import type { Connection } from './connection.js'
import { Gate } from './gate.js'
import { knownTaskResult, lookUpResult } from './known-task-result.js'
import type { CompleteOptions, WaitOptions } from './options.js'
import { newId } from './own-id.js'
import { type ScheduleOptions, toScheduleRequest } from './schedule-options.js'
import { type SendParts, sendRequests, type Stored } from './scheduling.js'
import { SharedResults } from './shared-results.js'
import type { StoredTask } from './task-handle.js'
import type { TaskResult } from './task-result.js'

/** Look-ups of results that the shared stream may have missed: thousands at once would be a flood. */
const LOOK_UPS_AT_ONCE = 16

/** A task that was scheduled by this client. */
export class ScheduledTask implements StoredTask {
  readonly handler: string
  readonly created: boolean
  readonly stored: Stored

  constructor(handler: string, stored: Stored, created: boolean) {
    this.handler = handler
    this.stored = stored
    this.created = created
  }

  get id(): string {
    return this.stored.id
  }

  get dueTime(): Date | undefined {
    return this.stored.dueTime
  }
}

interface SchedulingParts {
  readonly connection: Connection
  readonly options: CompleteOptions
  readonly calls: Calls
  readonly origin: string
}

/** Schedules tasks and waits for their results: the way of a task, seen from the client. */
export class TaskScheduling {
  readonly #parts: SchedulingParts
  readonly #send: SendParts
  readonly #coalescer: Coalescer<Stored>
  readonly #shared: SharedResults
  readonly #spans = new WeakMap<ScheduleRequest, ScheduleSpan>()

  constructor(parts: SchedulingParts) {
    const { connection, options, calls, origin } = parts
    const gate = new Gate(LOOK_UPS_AT_ONCE)
    this.#parts = parts
    this.#shared = new SharedResults({
      connection,
      options,
      origin,
      lookUp: (taskId, run) =>
        gate.run(() =>
          calls.wait({}, (scope) => lookUpResult({ taskId, run }, calls.tries, scope, calls.rules())),
        ),
    })
    this.#send = {
      connection,
      mark: () => this.#shared.mark(),
      spanOf: (request) => this.#spans.get(request),
    }
    this.#coalescer = this.#newCoalescer()
  }

  /** @param gather - Also when coalescing is off: the caller has said that these belong together. */
  async schedule(
    handler: string,
    input: unknown,
    options: ScheduleOptions,
    gather = this.#parts.options.coalesce,
  ): Promise<ScheduledTask> {
    const { calls, origin } = this.#parts
    const deadlineMs = calls.deadlineOf(options)
    const request = toScheduleRequest(handler, input, options, { newId, origin })
    const span = this.#traced(request, handler)
    try {
      const coalescer = gather ? this.#coalescer : this.#newCoalescer()
      const stored = await coalescer.add(request, deadlineMs, options.signal)
      span?.end()
      // nobody else knows an id that was made here: if it was known, then by a try of this call whose answer was lost
      return new ScheduledTask(handler, stored, stored.created || !options.id)
    } catch (error) {
      span?.end(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
  }

  /** Waits for a task's result: on the shared stream if the task bears this client's origin, else by asking for it. */
  result({ stored }: ScheduledTask, options: WaitOptions): Promise<TaskResult> {
    const { calls } = this.#parts
    return calls.wait(options, (scope) => {
      if (stored.created) return this.#shared.result(stored, options.run, scope)
      const wanted = { taskId: stored.id, run: options.run, replaced: stored.replaced }
      return knownTaskResult(wanted, calls.tries, scope, calls.rules())
    })
  }

  close(): void {
    this.#shared.close()
  }

  #newCoalescer(): Coalescer<Stored> {
    const { calls } = this.#parts
    return new Coalescer(
      (requests, deadlineMs, scope) => sendRequests(this.#send, requests, deadlineMs, scope),
      calls.unary,
      calls.rules(),
    )
  }

  #traced(request: ScheduleRequest, handler: string): ScheduleSpan | undefined {
    const { task } = request
    const span = task && startScheduleSpan(handler, task.id)
    if (span === undefined || task === undefined) return undefined
    task.traceparent = span.traceparent
    task.tracestate = span.tracestate
    this.#spans.set(request, span)
    return span
  }
}
