import * as fc from 'fast-check'
import type { Recurrence } from '../../server/task/recurrence/recurrence.js'
import type { Payload, TaskSpec, When } from '../../server/task/task-spec.js'
import type { NewTask, Task } from '../../server/task/task.js'
import { anyLabels } from '../task/any-labels.js'
import { START } from './stored-tasks.js'

const instant = fc.integer({ min: 0, max: 253_402_300_799_999 })
const count = fc.integer({ min: 0, max: 2 ** 40 })
/** Text as callers send it: quotes, control characters, NUL, characters outside the BMP. */
const text = fc.string({
  unit: fc.oneof(fc.constantFrom('"', '\\', '\0', '\n', '🜁', 'é', '!'), fc.string({ maxLength: 1 })),
})

const payload: fc.Arbitrary<Payload> = fc.oneof(
  fc.constant<Payload>({ kind: 'none' }),
  fc.json().map((json): Payload => ({ kind: 'json', text: json })),
  fc.uint8Array().map((bytes): Payload => ({ kind: 'bytes', bytes })),
)
const when: fc.Arbitrary<When> = fc.oneof(
  fc.constant<When>({ kind: 'now' }),
  instant.map((dueTime): When => ({ kind: 'at', dueTime })),
  count.map((delayMs): When => ({ kind: 'after', delayMs })),
)
const recurrence = fc.constantFrom<Recurrence>(
  { kind: 'every', intervalMs: 1_000, overlap: 'skip', missed: 'runOnce', maxRuns: 3 },
  {
    kind: 'cron',
    expression: '*/5 9-17 * * 1-5',
    timeZone: 'Europe/Berlin',
    overlap: 'queueOne',
    missed: 'runAll',
    dstGap: 'shift',
    dstOverlap: 'both',
    until: START + 1,
    jitterMs: 7,
  },
  { kind: 'minInterval', intervalMs: 100 },
  { kind: 'delayAfter', delayMs: 5_000 },
)
const labels = anyLabels(text)

/** Ids as they may look: UUIDs in every letter case, and other text. */
const id = fc.oneof(
  fc.uuid(),
  fc.uuid().map((uuid) => uuid.toUpperCase()),
  fc.uuid().map((uuid) => uuid.replaceAll('-', '')),
  fc.stringMatching(/^[A-Za-z0-9._:/-]{1,128}$/),
)

const spec: fc.Arbitrary<TaskSpec> = fc.record(
  {
    id,
    handler: fc.stringMatching(/^[a-z][a-z.-]{0,20}$/),
    payload,
    when,
    recurrence,
    retry: fc.record({
      maxAttempts: fc.integer({ min: 1, max: 1_000 }),
      initialBackoffMs: count,
      backoffMultiplier: fc.integer({ min: 1, max: 1_000_000_000 }),
      maxBackoffMs: count,
      jitterRatio: fc.double({ min: 0, max: 1, noNaN: true }).map(Math.abs),
      nonRetryableCodes: fc.array(text, { maxLength: 3 }),
    }),
    attemptTimeoutMs: count,
    startWithinMs: count,
    priority: fc.integer({ min: -100, max: 100 }),
    concurrencyKey: text,
    atMostOnce: fc.boolean(),
    labels,
    traceparent: text,
    tracestate: text,
    origin: text,
    rememberIdForMs: count,
  },
  {
    requiredKeys: [
      'id',
      'handler',
      'payload',
      'when',
      'retry',
      'attemptTimeoutMs',
      'priority',
      'concurrencyKey',
      'atMostOnce',
      'labels',
      'traceparent',
      'tracestate',
      'origin',
      'rememberIdForMs',
    ],
  },
)

const lastError = fc.record({ code: text, message: text, stack: text, name: text, cause: text })
const series = fc.record({
  firstDue: instant,
  slot: instant,
  startedRuns: count,
  lastStart: instant,
  lastState: fc.constantFrom('succeeded' as const, 'failed' as const, 'expired' as const),
  manualWaits: fc.boolean(),
})

/** What may stand in a task beside its spec and its state. */
const progress: fc.Arbitrary<Omit<Task, 'arrival' | 'spec' | 'state' | 'replacement'>> = fc.record(
  {
    run: fc.integer({ min: 1, max: 2 ** 40 }),
    attempts: count,
    interruptions: count,
    soloDeaths: count,
    suspicions: count,
    dueTime: instant,
    notBefore: instant,
    createTime: instant,
    startTimeUs: fc.integer({ min: 0, max: 2 ** 52 }),
    startId: count,
    paused: fc.boolean(),
    cancelRequested: fc.boolean(),
    manual: fc.boolean(),
    lastError,
    series,
    requestId: text,
    endTime: instant,
  },
  {
    requiredKeys: [
      'run',
      'attempts',
      'interruptions',
      'soloDeaths',
      'suspicions',
      'dueTime',
      'notBefore',
      'createTime',
      'startTimeUs',
      'startId',
      'paused',
      'cancelRequested',
      'manual',
      'requestId',
      'endTime',
    ],
  },
)

/** A task that is stored for the first time. */
export const anyNewTask: fc.Arbitrary<NewTask> = fc
  .tuple(spec, progress)
  .map(
    ([taskSpec, rest]): NewTask =>
      Object.assign(rest, { spec: taskSpec, state: 'scheduled' as const, startId: 0 }),
  )

/** A later state of a task; a replacement and another spec keep its id. */
export const anyLaterState = (
  task: Task,
  state: fc.Arbitrary<Task['state']>,
  options: { readonly newSpec: boolean },
): fc.Arbitrary<Task> =>
  fc
    .tuple(spec, spec, progress, state, fc.boolean(), fc.boolean())
    .map(([given, replacing, rest, next, replaced, other]) => {
      const { id: taskId } = task.spec
      return Object.assign(rest, {
        arrival: task.arrival,
        createTime: task.createTime,
        spec: other && options.newSpec ? { ...given, id: taskId } : task.spec,
        state: next,
        ...(replaced && { replacement: { spec: { ...replacing, id: taskId }, dueTime: rest.dueTime } }),
      })
    })
