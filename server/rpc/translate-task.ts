import type {
  Task as WireTask,
  TaskError as WireError,
  TaskSpec as WireSpec,
} from '../../proto/generated/punctual/v1/task.js'
import type { BlockedReason } from '../admission/scheduler-face.js'
import type { Instant } from '../task/instant.js'
import { nextDueTime } from '../task/next-due-time.js'
import type { AttemptError } from '../task/outcome.js'
import { isLive, type Task } from '../task/task.js'
import type { Payload, TaskSpec } from '../task/task-spec.js'
import { BLOCKED_REASONS, STATES } from './translate-enums.js'
import { fromRecurrence } from './translate-recurrence.js'
import { fromRetry } from './translate-retry.js'
import { fromInstant, fromMicros, fromMs } from './translate-time.js'
import { asValue } from './json-value.js'

/** How much of a payload to send: JSON as a Value, as text, or nothing of it. */
export type PayloadForm = 'value' | 'json' | 'none'

/** A stored task as callers see it at `now`. */
export function fromTask(task: Task, form: PayloadForm, now: Instant, blocked?: BlockedReason): WireTask {
  const waits = task.state === 'scheduled'
  const next = nextDueTime(task, now)
  return {
    spec: fromSpec(task.spec, form),
    state: STATES[task.state],
    run: BigInt(task.run),
    attempts: task.attempts,
    interruptedAttempts: task.interruptions,
    dueTime: fromInstant(task.dueTime),
    nextDueTime: next === undefined ? undefined : fromInstant(next),
    createTime: fromInstant(task.createTime),
    startTime: task.state === 'running' && task.startTimeUs > 0 ? fromMicros(task.startTimeUs) : undefined,
    paused: task.paused,
    cancelRequested: task.cancelRequested && isLive(task.state),
    blockedReason: waits && blocked !== undefined ? BLOCKED_REASONS[blocked] : 0,
    lastError: task.lastError && fromError(task.lastError),
    replacementWaits: task.replacement !== undefined,
  }
}

function fromSpec(spec: TaskSpec, form: PayloadForm): WireSpec {
  return {
    id: spec.id,
    handler: spec.handler,
    payload: form === 'none' ? undefined : fromPayload(spec.payload, form),
    when: fromWhen(spec),
    recurrence: spec.recurrence && fromRecurrence(spec.recurrence),
    retry: fromRetry(spec.retry),
    attemptTimeout: fromMs(spec.attemptTimeoutMs),
    startWithin: spec.startWithinMs === undefined ? undefined : fromMs(spec.startWithinMs),
    priority: spec.priority,
    concurrencyKey: spec.concurrencyKey,
    atMostOnce: spec.atMostOnce,
    labels: { ...spec.labels },
    traceparent: spec.traceparent,
    tracestate: spec.tracestate,
    origin: spec.origin,
    rememberIdFor: fromMs(spec.rememberIdForMs),
  }
}

function fromPayload(payload: Payload, form: 'value' | 'json'): WireSpec['payload'] {
  if (payload.kind === 'none' || payload.kind === 'forgotten') return undefined
  if (payload.kind === 'bytes') return { $case: 'inputBytes', value: Buffer.from(payload.bytes) }
  const value = form === 'value' ? asValue(payload.text) : undefined
  return value ? { $case: 'input', value: value.json } : { $case: 'inputJson', value: payload.text }
}

function fromWhen({ when }: TaskSpec): WireSpec['when'] {
  if (when.kind === 'now') return undefined
  return when.kind === 'at'
    ? { $case: 'dueTime', value: fromInstant(when.dueTime) }
    : { $case: 'delay', value: fromMs(when.delayMs) }
}

function fromError({ code, message, stack, name, cause }: AttemptError): WireError {
  return { code, message, stack, name, cause }
}
