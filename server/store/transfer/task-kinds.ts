import { z } from 'zod'
import type { Recurrence, RecurrenceInput } from '../../task/recurrence/recurrence.js'
import { validateRecurrence } from '../../task/recurrence/validate-recurrence.js'
import { DEFAULT_RETRY, type RetryPolicy } from '../../task/retry.js'
import type { TaskSpec, When } from '../../task/task-spec.js'
import type { Series, Task } from '../../task/task.js'
import {
  between,
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
  text,
} from './file-kinds.js'

const bounds = {
  maxRuns: fromOne.exactOptional(),
  until: instant.exactOptional(),
  jitterMs: count.exactOptional(),
}
const policies = {
  overlap: z.enum(['skip', 'queueOne']),
  missed: z.enum(['runOnce', 'runAll', 'skip']),
}

const recurrence: z.ZodType<Recurrence> = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('cron'),
      expression: text,
      timeZone: text,
      dstGap: z.enum(['shift', 'skip']),
      dstOverlap: z.enum(['first', 'last', 'both']),
      ...policies,
      ...bounds,
    }),
    z.strictObject({ kind: z.literal('every'), intervalMs: count, ...policies, ...bounds }),
    z.strictObject({ kind: z.literal('minInterval'), intervalMs: count, ...bounds }),
    z.strictObject({ kind: z.literal('delayAfter'), delayMs: count, ...bounds }),
  ])
  .superRefine((given, context) => {
    for (const { field, description } of validateRecurrence(inputOf(given), ''))
      context.addIssue(`${field === '' ? '' : `${field.slice(1)} `}${description}`)
  })

/** A recurrence as a caller would send it: its rules are those of admission. */
function inputOf(given: Recurrence): RecurrenceInput {
  switch (given.kind) {
    case 'cron':
      return { ...given, cron: given.expression }
    case 'every':
      return { ...given, everyMs: given.intervalMs }
    case 'minInterval':
      return { ...given, minIntervalMs: given.intervalMs }
    case 'delayAfter':
      return { ...given, delayAfterMs: given.delayMs }
  }
}

/** Left out: the default, which the store knows by identity. */
const retry = z
  .strictObject({
    maxAttempts: fromOne,
    initialBackoffMs: count,
    backoffMultiplier: between(1, 1_000_000_000),
    maxBackoffMs: count,
    jitterRatio: between(0, 1),
    nonRetryableCodes: someTexts,
  })
  // by a function: a value would be copied
  .default(() => DEFAULT_RETRY as RetryPolicy & { nonRetryableCodes: string[] })

const when: z.ZodType<When> = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('now') }),
  z.strictObject({ kind: z.literal('at'), dueTime: instant }),
  z.strictObject({ kind: z.literal('after'), delayMs: count }),
])

const spec: z.ZodType<TaskSpec> = z
  .strictObject({
    id: name,
    handler: name,
    inputJson: jsonText.exactOptional(),
    inputBase64: bytes.exactOptional(),
    inputHash: name.exactOptional(),
    when,
    recurrence: recurrence.exactOptional(),
    retry,
    attemptTimeoutMs: count,
    startWithinMs: count.exactOptional(),
    priority: between(-100, 100).multipleOf(1, 'must be a whole number').default(0),
    concurrencyKey: someText,
    atMostOnce: someFlag,
    labels,
    traceparent: someText,
    tracestate: someText,
    origin: someText,
    rememberIdForMs: count,
  })
  .transform(({ inputJson, inputBase64, inputHash, ...rest }, context) => {
    if ([inputJson, inputBase64, inputHash].filter((given) => given !== undefined).length > 1)
      context.addIssue('has more than one input')
    return { ...rest, payload: payloadOf(inputJson, inputBase64, inputHash) }
  })

const series: z.ZodType<Series> = z.strictObject({
  firstDue: instant,
  slot: instant,
  startedRuns: someCount,
  lastStart: someInstant,
  lastState: z.enum(['succeeded', 'failed', 'cancelled', 'expired']),
  manualWaits: someFlag,
  owedThrough: instant.exactOptional(),
})

/** A task; `Task` in all but that it has been written by hand. */
export const task: z.ZodType<Task> = z
  .strictObject({
    arrival: fromOne,
    state: z.enum(['scheduled', 'running', 'succeeded', 'failed', 'cancelled', 'expired']),
    run: fromOne,
    attempts: someCount,
    interruptions: someCount,
    soloDeaths: someCount,
    suspicions: someCount,
    dueTime: instant,
    notBefore: instant,
    createTime: instant,
    startTime: someMicros,
    endTime: someInstant,
    startId: someCount,
    paused: someFlag,
    cancelRequested: someFlag,
    manual: someFlag,
    requestId: someText,
    lastError: error.exactOptional(),
    series: series.exactOptional(),
    replacement: z.strictObject({ dueTime: instant, spec }).exactOptional(),
    spec,
  })
  .transform(({ startTime, ...rest }) => ({ ...rest, startTimeUs: startTime }))
