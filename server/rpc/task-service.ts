import type * as wire from '../../proto/generated/punctual/v1/scheduler_service.js'
import { OutputFormat } from '../../proto/generated/punctual/v1/result.js'
import { TaskView } from '../../proto/generated/punctual/v1/scheduler_service.js'
import type { Task as WireTask } from '../../proto/generated/punctual/v1/task.js'
import type { Admission } from '../admission/admission.js'
import { type BulkAnswer, type BulkChange, changeByFilter, changeByIds } from '../admission/bulk-change.js'
import { FIXED_LIMITS } from '../admission/limits.js'
import type { ScheduleCall } from '../admission/schedule-call.js'
import type { Changed } from '../admission/scheduler-face.js'
import type { Clock } from '../clock.js'
import { anyAbort } from '../results/any-abort.js'
import type { ResultLog } from '../results/result-log.js'
import { waitForResult } from '../results/wait-for-result.js'
import type { TaskStore } from '../store/task-store.js'
import { InvalidRequestError, SchedulerError, TaskNotFoundError, type Violation } from '../task/errors.js'
import type { Task } from '../task/task.js'
import type { BatchAnswers } from './batch-answers.js'
import { listTasks } from './list-tasks.js'
import { fromPageToken, toPageToken } from './page-token.js'
import { sendableResult } from './sendable-result.js'
import { toItemError } from './status.js'
import { checkChoice, STATES } from './translate-enums.js'
import { checkId, toListFilter } from './translate-filter.js'
import { fromTask, type PayloadForm } from './translate-task.js'
import { toMs } from './translate-time.js'
import type { Call } from './wrap.js'

const DEFAULT_GRACE_MS = 1_000
const DEFAULT_WAIT_MS = 30_000
const MAX_WAIT_MS = 300_000
const MAX_RUN = BigInt(Number.MAX_SAFE_INTEGER)
const DEFAULT_PAGE = 100
const MAX_PAGE = 1_000

export interface TaskServiceParts {
  readonly admission: Admission
  readonly store: TaskStore
  readonly log: ResultLog
  readonly clock: Clock
  /** Aborted when the server stops: then nobody waits any more. */
  readonly ending: AbortSignal
}

/** The calls about tasks: each translates, asks the room that knows, and translates back. */
export class TaskService {
  readonly #parts: TaskServiceParts

  constructor(parts: TaskServiceParts) {
    this.#parts = parts
  }

  async schedule(call: ScheduleCall): Promise<wire.ScheduleResponse> {
    const { task, created, logPosition } = only(await this.#parts.admission.schedule([call]))
    return { task: this.#wire(task), created, cursor: this.#parts.log.cursor(logPosition) }
  }

  async scheduleBatch(calls: readonly ScheduleCall[]): Promise<BatchAnswers> {
    const { admission, log } = this.#parts
    const answers = await admission.schedule(calls)
    return { calls, answers, latest: log.latest, cursorOf: (position) => log.cursor(position) }
  }

  async cancel({ id, grace }: wire.CancelRequest): Promise<wire.CancelResponse> {
    const found: Violation[] = []
    checkId(id, 'id', found)
    const graceMs = toGrace(grace, found)
    refuse(found)
    return { task: this.#wire(only(await this.#parts.admission.cancel([id], graceMs))) }
  }

  async cancelBatch(request: wire.CancelBatchRequest, { signal }: Call): Promise<wire.CancelBatchResponse> {
    const found: Violation[] = []
    const graceMs = toGrace(request.grace, found)
    const live = ['scheduled', 'running'] as const
    const change = (ids: readonly string[]): Changed => this.#parts.admission.cancel(ids, graceMs)
    return this.#bulk({ allowed: live, meant: live, change }, request, found, signal)
  }

  async retryBatch(request: wire.RetryBatchRequest, { signal }: Call): Promise<wire.RetryBatchResponse> {
    const change = (ids: readonly string[]): Changed => this.#parts.admission.retry(ids)
    const allowed = ['failed', 'expired', 'cancelled'] as const
    return this.#bulk({ allowed, meant: ['failed'], change }, request, [], signal)
  }

  async pause({ id }: wire.PauseRequest): Promise<wire.PauseResponse> {
    return this.#changeOne(id, (ids) => this.#parts.admission.pause(ids))
  }

  async resume({ id }: wire.ResumeRequest): Promise<wire.ResumeResponse> {
    return this.#changeOne(id, (ids) => this.#parts.admission.resume(ids))
  }

  async runNow({ id }: wire.RunNowRequest): Promise<wire.RunNowResponse> {
    return this.#changeOne(id, (ids) => this.#parts.admission.runNow(ids))
  }

  async getTask({ id, outputFormat }: wire.GetTaskRequest): Promise<wire.GetTaskResponse> {
    const found: Violation[] = []
    checkId(id, 'id', found)
    checkChoice(OutputFormat, outputFormat, 'output_format', found)
    refuse(found)
    const { task, result: entry } = await this.#parts.store.lookUp(id)
    if (!task) throw new TaskNotFoundError(id)
    return {
      task: this.#wire(task, formOf(outputFormat)),
      result: entry && sendableResult(entry, outputFormat),
    }
  }

  async listTasks(request: wire.ListTasksRequest, { signal }: Call): Promise<wire.ListTasksResponse> {
    const found: Violation[] = []
    const filter = toListFilter(request.filter, found)
    const { pageSize, pageToken, view } = request
    if (pageSize < 0 || pageSize > MAX_PAGE) {
      found.push({ field: 'page_size', description: `must be from 1 to ${MAX_PAGE}, got ${pageSize}` })
    }
    checkChoice(TaskView, view, 'view', found)
    refuse(found)
    const after = pageToken === '' ? undefined : fromPageToken(pageToken, filter)
    const full = view === TaskView.FULL
    const page = await listTasks(
      this.#parts.store,
      { filter, after, size: pageSize || DEFAULT_PAGE, full },
      (task) => this.#wire(task, full ? 'value' : 'none'),
      signal,
    )
    return { tasks: [...page.tasks], nextPageToken: page.next ? toPageToken(page.next, filter) : '' }
  }

  async waitForResult(request: wire.WaitForResultRequest, call: Call): Promise<wire.WaitForResultResponse> {
    const { taskId, run, wait, outputFormat } = request
    const found: Violation[] = []
    checkId(taskId, 'task_id', found)
    if (run !== undefined && (run < 1n || run > MAX_RUN)) {
      found.push({ field: 'run', description: `must be from 1 to ${MAX_RUN}, got ${run}` })
    }
    checkChoice(OutputFormat, outputFormat, 'output_format', found)
    const waitMs = wait ? toMs(wait, 'wait', found) : DEFAULT_WAIT_MS
    if (waitMs !== undefined && waitMs > MAX_WAIT_MS) {
      found.push({ field: 'wait', description: 'must be at most 5 min: ask again afterwards' })
    }
    refuse(found)
    const { log, store, clock, ending } = this.#parts
    const enough = anyAbort(call.signal, ending)
    const timer = clock.setTimer(waitMs ?? 0, enough.abort)
    const answer = await waitForResult(log, store, {
      taskId,
      run: run === undefined ? undefined : Number(run),
      signal: enough.signal,
    }).finally(() => {
      timer.cancel()
      enough.release()
    })
    return {
      task: this.#wire(answer.task, formOf(outputFormat)),
      result: answer.entry && sendableResult(answer.entry, outputFormat),
    }
  }

  async #changeOne(id: string, change: (ids: readonly string[]) => Changed): Promise<{ task: WireTask }> {
    const found: Violation[] = []
    checkId(id, 'id', found)
    refuse(found)
    return { task: this.#wire(only(await change([id]))) }
  }

  async #bulk(
    change: BulkChange,
    request: wire.RetryBatchRequest,
    found: Violation[],
    signal: AbortSignal,
  ): Promise<wire.RetryBatchResponse> {
    const { ids, filter, dryRun } = request
    if (ids.length > 0 === (filter !== undefined)) {
      found.push({ field: 'ids', description: 'either ids or filter is needed; an empty filter means all' })
    }
    if (ids.length > FIXED_LIMITS.maxBatchTasks) {
      found.push({
        field: 'ids',
        description: `must be at most ${FIXED_LIMITS.maxBatchTasks}, got ${ids.length}`,
      })
    }
    const wanted = toListFilter(filter, found)
    refuse(found)
    const { store } = this.#parts
    const done =
      ids.length > 0
        ? await changeByIds(store, change, ids, dryRun)
        : await changeByFilter(store, change, wanted, dryRun, signal)
    return fromBulk(done)
  }

  #wire(task: Task, form: PayloadForm = 'value'): WireTask {
    const { store, admission } = this.#parts
    return fromTask(task, form, store.now(), admission.blockedReason(task))
  }
}

function fromBulk({ answers, count }: BulkAnswer): wire.RetryBatchResponse {
  return {
    answers: answers.map(({ id, answer }) =>
      answer instanceof SchedulerError
        ? {
            id: id.slice(0, FIXED_LIMITS.maxIdChars),
            state: 0,
            cancelRequested: false,
            error: toItemError(answer),
          }
        : { id, state: STATES[answer.state], cancelRequested: answer.cancelRequested, error: undefined },
    ),
    count: BigInt(count),
  }
}

/** The answer of a call about one task. */
function only<T extends object>(answers: readonly (T | SchedulerError)[]): T {
  const [answer] = answers
  if (!answer) throw new Error('one task was asked about, and no answer came')
  if (answer instanceof SchedulerError) throw answer
  return answer
}

function toGrace(grace: wire.CancelRequest['grace'], found: Violation[]): number {
  const ms = grace && toMs(grace, 'grace', found)
  if (ms !== undefined && ms > FIXED_LIMITS.maxGraceMs) {
    found.push({ field: 'grace', description: 'must be at most 1 h' })
  }
  return ms ?? DEFAULT_GRACE_MS
}

const formOf = (format: OutputFormat): PayloadForm => (format === OutputFormat.JSON ? 'json' : 'value')

function refuse(found: readonly Violation[]): void {
  if (found.length > 0) throw new InvalidRequestError(found, 'INVALID_REQUEST')
}
