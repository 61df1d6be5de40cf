import { isDeepStrictEqual } from 'node:util'
import type { AttemptError } from '../../task/outcome.js'
import type { Recurrence } from '../../task/recurrence/recurrence.js'
import type { TaskResult } from '../../task/result.js'
import { DEFAULT_RETRY, type RetryPolicy } from '../../task/retry.js'
import type { Labels, Payload, TaskSpec, When } from '../../task/task-spec.js'
import type { Series, Task } from '../../task/task.js'
import type { StoredConsumer } from '../task-store.js'
import type { ExportLine, SealedResult } from './export-line.js'
import { toFileNames } from './names.js'
import { instantText, microsText } from './time-text.js'

/** One line of an export, without its end. What is 0, false or empty is left out. */
export function writeLine(line: ExportLine): string {
  return JSON.stringify(toFileNames(plain(line)))
}

function plain(line: ExportLine): object {
  switch (line.type) {
    case 'export': {
      const { position, commitTime } = line.logFloor
      return {
        ...line,
        lastChange: time(line.lastChange),
        logFloor: { position, commitTime: time(commitTime) },
      }
    }
    case 'consumer':
      return { type: line.type, consumer: consumerOf(line.consumer) }
    case 'task':
      return { ...line, task: taskOf(line.task) }
    case 'result':
      return {
        ...line,
        commitTime: instantText(line.commitTime),
        result: 'sealed' in line.result ? sealedOf(line.result) : resultOf(line.result),
        task: line.task && taskOf(line.task),
      }
    case 'ended':
      return { ...line, commitTime: instantText(line.commitTime), task: taskOf(line.task) }
    case 'end':
      return line
  }
}

function taskOf(task: Task): object {
  const { spec, lastError, series, replacement } = task
  return {
    arrival: task.arrival,
    state: task.state,
    run: task.run,
    attempts: some(task.attempts),
    interruptions: some(task.interruptions),
    soloDeaths: some(task.soloDeaths),
    suspicions: some(task.suspicions),
    dueTime: instantText(task.dueTime),
    notBefore: instantText(task.notBefore),
    createTime: instantText(task.createTime),
    startTime: task.startTimeUs === 0 ? undefined : microsText(task.startTimeUs),
    endTime: time(task.endTime),
    startId: some(task.startId),
    paused: some(task.paused),
    cancelRequested: some(task.cancelRequested),
    manual: some(task.manual),
    requestId: some(task.requestId),
    lastError: lastError && errorOf(lastError),
    series: series && seriesOf(series),
    replacement: replacement && {
      dueTime: instantText(replacement.dueTime),
      spec: specOf(replacement.spec),
    },
    spec: specOf(spec),
  }
}

function specOf(spec: TaskSpec): object {
  return {
    id: spec.id,
    handler: spec.handler,
    ...payloadOf('input', spec.payload),
    when: whenOf(spec.when),
    recurrence: spec.recurrence && recurrenceOf(spec.recurrence),
    retry: retryOf(spec.retry),
    attemptTimeoutMs: spec.attemptTimeoutMs,
    startWithinMs: spec.startWithinMs,
    priority: some(spec.priority),
    concurrencyKey: some(spec.concurrencyKey),
    atMostOnce: some(spec.atMostOnce),
    labels: labelsOf(spec.labels),
    traceparent: some(spec.traceparent),
    tracestate: some(spec.tracestate),
    origin: some(spec.origin),
    rememberIdForMs: spec.rememberIdForMs,
  }
}

/** @returns undefined for the default. */
function retryOf(retry: RetryPolicy): object | undefined {
  if (retry === DEFAULT_RETRY || isDeepStrictEqual(retry, DEFAULT_RETRY)) return undefined
  return {
    maxAttempts: retry.maxAttempts,
    initialBackoffMs: retry.initialBackoffMs,
    backoffMultiplier: retry.backoffMultiplier,
    maxBackoffMs: retry.maxBackoffMs,
    jitterRatio: retry.jitterRatio,
    nonRetryableCodes: list(retry.nonRetryableCodes),
  }
}

/** JSON stays text: a reader's numbers might not hold what it says. */
function payloadOf(name: 'input' | 'output', payload: Payload): object {
  switch (payload.kind) {
    case 'none':
      return {}
    case 'json':
      return { [`${name}Json`]: payload.text }
    case 'bytes':
      return { [`${name}Base64`]: Buffer.from(payload.bytes).toString('base64') }
    case 'forgotten':
      return { [`${name}Hash`]: payload.hash }
  }
}

function whenOf(when: When): object {
  return when.kind === 'at' ? { kind: 'at', dueTime: instantText(when.dueTime) } : when
}

function recurrenceOf(recurrence: Recurrence): object {
  const { kind, maxRuns, until, jitterMs } = recurrence
  const cron = kind === 'cron' ? recurrence : undefined
  const slots = kind === 'cron' || kind === 'every' ? recurrence : undefined
  return {
    kind,
    expression: cron?.expression,
    timeZone: cron?.timeZone,
    intervalMs: kind === 'every' || kind === 'minInterval' ? recurrence.intervalMs : undefined,
    delayMs: kind === 'delayAfter' ? recurrence.delayMs : undefined,
    overlap: slots?.overlap,
    missed: slots?.missed,
    dstGap: cron?.dstGap,
    dstOverlap: cron?.dstOverlap,
    maxRuns,
    until: until === undefined ? undefined : instantText(until),
    jitterMs,
  }
}

function seriesOf(series: Series): object {
  return {
    firstDue: instantText(series.firstDue),
    slot: instantText(series.slot),
    startedRuns: some(series.startedRuns),
    lastStart: time(series.lastStart),
    lastState: series.lastState,
    manualWaits: some(series.manualWaits),
    owedThrough: series.owedThrough === undefined ? undefined : instantText(series.owedThrough),
  }
}

function resultOf(result: TaskResult): object {
  return {
    kind: result.kind,
    outcome: result.outcome,
    taskId: result.taskId,
    handler: result.handler,
    run: result.run,
    attempts: some(result.attempts),
    interruptions: some(result.interruptions),
    ...payloadOf('output', result.output),
    error: result.error && errorOf(result.error),
    dueTime: instantText(result.dueTime),
    startTime: result.startTimeUs === 0 ? undefined : microsText(result.startTimeUs),
    endTime: result.endTimeUs === 0 ? undefined : microsText(result.endTimeUs),
    workerId: some(result.workerId),
    labels: labelsOf(result.labels),
    traceId: some(result.traceId),
    origin: some(result.origin),
    last: some(result.last),
    skipReason: result.skipReason,
    skippedCount: some(result.skippedCount),
    cancelStage: result.cancelStage,
    manual: some(result.manual),
  }
}

function sealedOf({ sealed, labels, origin, ...rest }: SealedResult): object {
  return {
    ...rest,
    origin: some(origin),
    labels: labelsOf(labels),
    sealedBase64: Buffer.from(sealed).toString('base64'),
  }
}

function errorOf({ code, message, stack, name, cause }: AttemptError): object {
  return {
    code: some(code),
    message: some(message),
    stack: some(stack),
    name: some(name),
    cause: some(cause),
  }
}

function consumerOf({ filter, ...consumer }: StoredConsumer): object {
  const { taskIds, handlers, labels, outcomes, origins, includeAttempts } = filter
  return {
    name: consumer.name,
    position: consumer.position,
    lossy: some(consumer.lossy),
    createTime: instantText(consumer.createTime),
    activeTime: instantText(consumer.activeTime),
    filter: {
      taskIds: list([...taskIds]),
      handlers: list([...handlers]),
      labels: labelsOf(labels),
      outcomes: list([...outcomes]),
      origins: list([...origins]),
      includeAttempts: some(includeAttempts),
    },
  }
}

/** What is 0, false or empty is left out. */
const some = <T extends string | number | boolean>(value: T): T | undefined => value || undefined
const time = (instant: number): string | undefined => (instant === 0 ? undefined : instantText(instant))
const list = (members: readonly string[]): readonly string[] | undefined =>
  members.length === 0 ? undefined : members

function labelsOf(labels: Labels): Labels | undefined {
  for (const _ in labels) return labels
  return undefined
}
