import { OutputFormat } from '../proto/generated/punctual/v1/result.js'
import {
  type GetTaskResponse,
  type WaitForResultRequest,
  type WaitForResultResponse,
} from '../proto/generated/punctual/v1/scheduler_service.js'
import type { Task } from '../proto/generated/punctual/v1/task.js'
import type { CallScope } from './call-scope.js'
import { PunctualError, TaskEndedError, isWorthResuming, isWorthRetrying } from './errors.js'
import { backoffMs, pause, type RetryRules, STREAM_BACKOFF } from './retrying.js'
import { isLive, toTaskState } from './task-info.js'
import { type TaskResult, toTaskResult } from './task-result.js'
import { toDuration } from './wire-time.js'

/** How long the server holds one question open: shorter than what proxies cut off. */
const HOLD_MS = 30_000

/** The single tries that a wait is made of. */
export interface WaitCalls {
  getTask(id: string, scope: CallScope): Promise<GetTaskResponse>
  waitForResult(request: WaitForResultRequest, scope: CallScope): Promise<WaitForResultResponse>
}

/** Which result of a task. */
export interface WantedResult {
  readonly taskId: string
  /** Left out: a one-shot task's result, a recurring task's next run to end. */
  readonly run?: number | undefined
  /** The task was just replaced: while the run before is still open, the next one is meant. */
  readonly replaced?: boolean
}

/**
 * Waits for the result of a task that may have been stored by anybody, at any time: by asking the server, again and again. Outages are
 * waited out.
 */
export async function knownTaskResult(
  wanted: WantedResult,
  calls: WaitCalls,
  scope: CallScope,
  rules: RetryRules,
): Promise<TaskResult> {
  const { taskId } = wanted
  let run = wanted.run
  if (run === undefined) {
    const { task, result } = await persistently(() => calls.getTask(taskId, scope), scope, rules)
    if (result !== undefined && (task === undefined || hasEnded(task))) return toTaskResult(result)
    // "the result" of a one-shot task means its current run: a replaced one has results of earlier runs
    if (task !== undefined && task.spec?.recurrence === undefined) {
      run = Number(task.run) + (wanted.replaced === true && task.replacementWaits ? 1 : 0)
    }
  }
  for (;;) {
    const request = waitRequest(taskId, run, HOLD_MS)
    const { task, result } = await persistently(() => calls.waitForResult(request, scope), scope, rules)
    if (result === undefined) {
      if (task !== undefined && hasEnded(task)) throw noLongerKept(taskId)
      continue
    }
    const found = toTaskResult(result)
    if (found.outcome !== 'skipped' || found.last || wanted.run !== undefined) return found
    run = found.run + 1
  }
}

/** Looks whether the result is there already. */
export async function lookUpResult(
  { taskId, run }: WantedResult,
  calls: WaitCalls,
  scope: CallScope,
  rules: RetryRules,
): Promise<TaskResult | undefined> {
  if (run === undefined) {
    const { task, result } = await persistently(() => calls.getTask(taskId, scope), scope, rules)
    if (task === undefined || !hasEnded(task)) return undefined
    if (result === undefined) throw noLongerKept(taskId)
    return toTaskResult(result)
  }
  const request = waitRequest(taskId, run, 0)
  const { task, result } = await persistently(() => calls.waitForResult(request, scope), scope, rules)
  if (result !== undefined) return toTaskResult(result)
  if (task !== undefined && hasEnded(task)) throw noLongerKept(taskId)
  return undefined
}

/** Tries until it succeeds or fails for good. */
async function persistently<T>(tryOnce: () => Promise<T>, scope: CallScope, rules: RetryRules): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await tryOnce()
    } catch (error) {
      if (!(error instanceof PunctualError && isWorthWaitingFor(error) && rules.mayRetry(error))) throw error
      const waitMs = backoffMs(STREAM_BACKOFF, failures, rules.random(), error.retryAfterMs)
      await pause(rules.clock, waitMs, scope)
    }
  }
}

/** A held question may also end because a proxy, a deadline or a stopping server cut it off. */
function isWorthWaitingFor(error: PunctualError): boolean {
  const cutOff = error.code === 'DEADLINE_EXCEEDED' || error.code === 'CANCELLED'
  return isWorthRetrying(error) || (cutOff && isWorthResuming(error))
}

function waitRequest(taskId: string, run: number | undefined, waitMs: number): WaitForResultRequest {
  return {
    taskId,
    run: run === undefined ? undefined : BigInt(run),
    wait: toDuration(waitMs, 'wait'),
    outputFormat: OutputFormat.JSON,
  }
}

const hasEnded = (task: Task): boolean => !isLive(toTaskState(task.state))

function noLongerKept(taskId: string): TaskEndedError {
  const message = `task '${taskId}' has ended, and its result is no longer kept`
  return new TaskEndedError({ message, metadata: { task_id: taskId } })
}
