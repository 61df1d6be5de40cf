import { z } from 'zod'
import type { TaskResult } from '../../task/result.js'
import { isLive } from '../../task/task.js'
import { type LogFilter, StoreOpenError, type StoredConsumer } from '../task-store.js'
import { EXPORT_FORMAT, type ExportLine, type SealedResult } from './export-line.js'
import {
  bytes,
  count,
  error,
  fromOne,
  instant,
  jsonText,
  labels,
  name,
  payloadOf,
  someCount,
  someFlag,
  someInstant,
  someMicros,
  someText,
  someTexts,
} from './file-kinds.js'
import { fileName, fromFileNames } from './names.js'
import { task } from './task-kinds.js'

const outcome = z.enum(['succeeded', 'failed', 'timedOut', 'cancelled', 'expired', 'skipped'])

const known = {
  kind: z.enum(['result', 'attempt']),
  outcome,
  taskId: name,
  handler: name,
  run: fromOne,
  labels,
  origin: someText,
}

const sealed: z.ZodType<SealedResult> = z
  .strictObject({ ...known, sealedBase64: bytes })
  .transform(({ sealedBase64, ...rest }) => ({ ...rest, sealed: sealedBase64 }))

const result: z.ZodType<TaskResult> = z
  .strictObject({
    ...known,
    attempts: someCount,
    interruptions: someCount,
    outputJson: jsonText.exactOptional(),
    outputBase64: bytes.exactOptional(),
    error: error.exactOptional(),
    dueTime: instant,
    startTime: someMicros,
    endTime: someMicros,
    workerId: someText,
    traceId: someText,
    last: someFlag,
    skipReason: z.enum(['overlap', 'missed', 'paused', 'dstGap']).exactOptional(),
    skippedCount: someCount,
    cancelStage: z.enum(['neverStarted', 'cooperative', 'terminated']).exactOptional(),
    manual: someFlag,
  })
  .transform(({ outputJson, outputBase64, startTime, endTime, ...rest }, context) => {
    if (outputJson !== undefined && outputBase64 !== undefined) context.addIssue('has more than one output')
    return {
      ...rest,
      output: payloadOf(outputJson, outputBase64),
      notBefore: rest.dueTime,
      startTimeUs: startTime,
      endTimeUs: endTime,
    }
  })

const filter: z.ZodType<LogFilter> = z
  .strictObject({
    taskIds: someTexts,
    handlers: someTexts,
    labels,
    outcomes: z.array(outcome).default(() => []),
    origins: someTexts,
    includeAttempts: someFlag,
  })
  .transform(({ taskIds, handlers, outcomes, origins, ...rest }) => ({
    ...rest,
    taskIds: new Set(taskIds),
    handlers: new Set(handlers),
    outcomes: new Set(outcomes),
    origins: new Set(origins),
  }))

const consumer: z.ZodType<StoredConsumer> = z.strictObject({
  name,
  position: count,
  lossy: someFlag,
  createTime: instant,
  activeTime: instant,
  filter,
})

const live = task.refine(({ state }) => isLive(state), 'has ended, and stands in a line of type task')
const ended = task.refine(({ state }) => !isLive(state), 'has not ended')

const LINES = {
  export: z.strictObject({
    type: z.literal('export'),
    format: z.literal(EXPORT_FORMAT, {
      error: ({ input }) =>
        `is ${input === undefined ? 'missing' : JSON.stringify(input)}; this version reads ${EXPORT_FORMAT}`,
    }),
    nextStartId: fromOne,
    newestArrival: count,
    lastChange: someInstant,
    logFloor: z.strictObject({ position: count, commitTime: someInstant }),
  }),
  consumer: z.strictObject({ type: z.literal('consumer'), consumer }),
  task: z.strictObject({ type: z.literal('task'), logPosition: count, task: live }),
  result: z.strictObject({
    type: z.literal('result'),
    position: fromOne,
    commitTime: instant,
    arrival: fromOne,
    result,
    task: ended.exactOptional(),
  }),
  sealed: z.strictObject({
    type: z.literal('result'),
    position: fromOne,
    commitTime: instant,
    arrival: fromOne,
    result: sealed,
    task: ended.exactOptional(),
  }),
  ended: z.strictObject({
    type: z.literal('ended'),
    position: fromOne,
    commitTime: instant,
    outcome,
    run: fromOne,
    task: ended,
  }),
  end: z.strictObject({ type: z.literal('end'), lines: fromOne }),
} as const satisfies Record<string, z.ZodType<ExportLine>>

const anyLine = z.looseObject({
  type: z.enum(['export', 'consumer', 'task', 'result', 'ended', 'end'], {
    error: 'must be export, consumer, task, result, ended or end',
  }),
})

/**
 * Reads one line of an export.
 *
 * @throws StoreOpenError that says which member is wrong and what would be right. Members that it does not know are refused, so that nothing is dropped in silence.
 */
export function readLine(line: string): ExportLine {
  const given = fromFileNames(parsed(line))
  const { type, result: held } = valid(anyLine, given)
  const isSealed = type === 'result' && typeof held === 'object' && held !== null && 'sealedBase64' in held
  return valid<ExportLine>(LINES[isSealed ? 'sealed' : type], given)
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new StoreOpenError(`is not JSON: ${(cause as Error).message}`, { cause })
  }
}

function valid<T>(kind: z.ZodType<T>, given: unknown): T {
  const read = kind.safeParse(given)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const path = issue?.path.map((part) => fileName(String(part))).join('.') ?? ''
  throw new StoreOpenError(`${path === '' ? '' : `${path} `}${messageOf(issue)}`)
}

/** Ours, where the kind has one; else ours for what zod found. */
function messageOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'unrecognized_keys')
    return `has '${issue.keys.map(fileName).join("', '")}', which no export has there`
  if (issue?.code === 'invalid_value' && issue.message.startsWith('Invalid'))
    return `must be ${issue.values.map((value) => fileName(String(value))).join(' or ')}`
  if (issue?.code === 'invalid_type' && issue.message.startsWith('Invalid'))
    return issue.message.endsWith('undefined') ? 'is missing' : `must be ${issue.expected}`
  return issue?.message ?? 'cannot be read'
}
