import { BinaryWriter } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ScheduleBatchRequest, ScheduleRequest } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { Recurrence, RetryPolicy, type TaskSpec } from '../../proto/generated/punctual/v1/task.js'
import type { ScheduleCall } from '../../server/admission/schedule-call.js'
import { readSchedule, readScheduleBatch } from '../../server/rpc/read-schedule.js'
import { DEFAULT_RETRY } from '../../server/task/retry.js'
import { hurried, unhurried } from '../clock/some-slices.js'
import { aTask, encode, fieldsOf, read, readRawTask, readTask, UNTRACED } from './requests.js'

const duration = (seconds: number, nanos = 0) => ({ seconds: BigInt(seconds), nanos })
const recurrence = (change: Partial<Recurrence>): Recurrence => ({ ...Recurrence.create(), ...change })

describe('a request to schedule', () => {
  it('is read whole', () => {
    const call = read({
      task: aTask({
        id: 'order/7',
        handler: 'echo',
        payload: { $case: 'inputJson', value: '{"a":1}' },
        when: { $case: 'dueTime', value: { seconds: 1_800_000_000n, nanos: 5_000_000 } },
        recurrence: recurrence({
          rule: { $case: 'every', value: duration(2) },
          maxRuns: 3n,
          until: { seconds: 1_900_000_000n, nanos: 0 },
        }),
        retry: {
          ...RetryPolicy.create(),
          maxAttempts: 3,
          initialBackoff: duration(0, 10_000_000),
          jitterRatio: 0,
          nonRetryableCodes: ['GONE'],
        },
        attemptTimeout: duration(30),
        startWithin: duration(60),
        priority: -7,
        concurrencyKey: 'customer-1',
        atMostOnce: true,
        labels: { team: 'billing', empty: '' },
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        tracestate: 'a=b',
        origin: 'client-1',
        rememberIdFor: duration(600),
      }),
      onConflict: 2,
      requestId: 'r1',
    })
    expect(call).toEqual({
      spec: {
        id: 'order/7',
        handler: 'echo',
        payload: { kind: 'json', text: '{"a":1}' },
        when: { kind: 'at', dueTime: 1_800_000_000_005 },
        recurrence: {
          kind: 'every',
          intervalMs: 2_000,
          overlap: 'skip',
          missed: 'runOnce',
          maxRuns: 3,
          until: 1_900_000_000_000,
        },
        retry: {
          ...DEFAULT_RETRY,
          maxAttempts: 3,
          initialBackoffMs: 10,
          jitterRatio: 0,
          nonRetryableCodes: ['GONE'],
        },
        attemptTimeoutMs: 30_000,
        startWithinMs: 60_000,
        priority: -7,
        concurrencyKey: 'customer-1',
        atMostOnce: true,
        labels: { team: 'billing', empty: '' },
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        tracestate: 'a=b',
        origin: 'client-1',
        rememberIdForMs: 600_000,
      },
      onConflict: 'replace',
      requestId: 'r1',
      payloadField: 'task.input_json',
      violations: [],
      unknownFields: [],
    })
  })

  it('has the documented defaults', () => {
    expect(readTask({ handler: 'echo' })).toMatchObject({
      spec: {
        id: '',
        payload: { kind: 'none' },
        when: { kind: 'now' },
        retry: DEFAULT_RETRY,
        attemptTimeoutMs: 3_600_000,
        priority: 0,
        labels: {},
        rememberIdForMs: 86_400_000,
      },
      onConflict: 'sameSpec',
      violations: [],
    })
  })

  it('tells a delay of nothing from none', () => {
    expect(readTask({ when: { $case: 'delay', value: duration(0) } }).spec.when).toEqual({
      kind: 'after',
      delayMs: 0,
    })
  })

  it('tells a time-out of nothing (no limit) from none', () => {
    expect(readTask({ attemptTimeout: duration(0) }).spec.attemptTimeoutMs).toBe(0)
  })

  it('is never early: a finer due time or delay is rounded up', () => {
    const at = readTask({ when: { $case: 'dueTime', value: { seconds: 10n, nanos: 1 } } })
    expect(at.spec.when).toEqual({ kind: 'at', dueTime: 10_001 })
    const after = readTask({ when: { $case: 'delay', value: duration(10, 999_999_999) } })
    expect(after.spec.when).toEqual({ kind: 'after', delayMs: 11_000 })
  })

  it.each<[string, Partial<TaskSpec>, string]>([
    ['a negative delay', { when: { $case: 'delay', value: duration(-1) } }, 'task.delay'],
    [
      'a delay of more than 10,000 years',
      { when: { $case: 'delay', value: duration(315_576_000_001) } },
      'task.delay',
    ],
    ['a delay of mixed signs', { when: { $case: 'delay', value: duration(1, -5) } }, 'task.delay'],
    [
      'a year 10000',
      { when: { $case: 'dueTime', value: { seconds: 253_402_300_800n, nanos: 0 } } },
      'task.due_time',
    ],
    ['negative nanos', { when: { $case: 'dueTime', value: { seconds: 1n, nanos: -1 } } }, 'task.due_time'],
    [
      'an interval of nothing',
      { recurrence: recurrence({ rule: { $case: 'every', value: duration(0) } }) },
      'task.recurrence.every',
    ],
    [
      'a negative interval',
      { recurrence: recurrence({ rule: { $case: 'every', value: duration(-1) } }) },
      'task.recurrence.every',
    ],
    [
      'an interval of 1 ns',
      { recurrence: recurrence({ rule: { $case: 'every', value: duration(0, 1) } }) },
      'task.recurrence.every',
    ],
    ['a recurrence without a rule', { recurrence: recurrence({}) }, 'task.recurrence'],
    [
      'a policy that nobody knows',
      { recurrence: recurrence({ rule: { $case: 'cron', value: '* * * * *' }, missed: 9 as never }) },
      'task.recurrence.missed',
    ],
    [
      'a back-off but no number of attempts, so that nothing would be tried again',
      { retry: { ...RetryPolicy.create(), initialBackoff: duration(5) } },
      'task.retry.max_attempts',
    ],
  ])('is told by field when it has %s', (_, task, field) => {
    expect([...new Set(fieldsOf(readTask(task)))]).toEqual([field])
  })

  it('is refused without a task, and with a conflict rule that nobody knows', () => {
    expect(fieldsOf(read({ onConflict: 7 as never }))).toEqual(['task', 'on_conflict'])
  })

  it('takes the trace of its call when the task brings none', () => {
    const trace = { traceparent: '00-a-b-01', tracestate: 'c=d' }
    const bytes = (task: Partial<TaskSpec>) => encode({ task: aTask(task) })
    expect(readSchedule(bytes({}), trace).spec).toMatchObject(trace)
    expect(readSchedule(bytes({ traceparent: 'own' }), trace).spec).toMatchObject({
      traceparent: 'own',
      tracestate: '',
    })
  })
})

describe('what an older server would lose in silence', () => {
  it('is told: a field of a newer client, wherever it stands', () => {
    const raw = (writer: BinaryWriter): BinaryWriter =>
      writer
        .uint32(31 * 8)
        .uint32(1)
        .uint32(74)
        .bytes(
          new BinaryWriter()
            .uint32(9 * 8 + 2)
            .string('x')
            .finish(),
        )
    expect(readRawTask(raw).unknownFields).toEqual(['task (field 31)', 'task.retry (field 9)'])
  })

  it('is told: a field of the request', () => {
    const bytes = new BinaryWriter()
      .uint32(8 * 8)
      .uint32(1)
      .finish()
    expect(readSchedule(Buffer.from(bytes), UNTRACED).unknownFields).toEqual(['request (field 8)'])
  })

  it('is told: text that is not UTF-8, with its field (C133)', () => {
    const bad = Buffer.from([0xff, 0xfe])
    const label = new BinaryWriter().uint32(10).string('a').uint32(18).bytes(bad).finish()
    const call = readRawTask((writer) => writer.uint32(122).bytes(label).uint32(106).bytes(bad))
    expect(fieldsOf(call)).toEqual(['task.labels', 'task.concurrency_key'])
  })

  it('is not told of text that has the replacement character', () => {
    expect(readTask({ labels: { a: '\uFFFD' } })).toMatchObject({
      violations: [],
      spec: { labels: { a: '\uFFFD' } },
    })
  })

  it('is told: a label named __proto__', () => {
    const label = new BinaryWriter().uint32(10).string('__proto__').uint32(18).string('x').finish()
    expect(fieldsOf(readRawTask((writer) => writer.uint32(122).bytes(label)))).toEqual(['task.labels'])
  })
})

describe('bytes that are no request', () => {
  it('throw, whatever they are, and never anything else than an Error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(outcomeOf(() => readSchedule(Buffer.from(bytes), UNTRACED))).not.toBe(
          'something else was thrown',
        )
      }),
      { numRuns: 2_000 },
    )
  })

  it('throw when a good request is cut', () => {
    const bytes = encode({
      task: aTask({
        handler: 'echo',
        payload: { $case: 'input', value: { a: [1, 'x'] } },
        labels: { a: 'b' },
      }),
    })
    for (let length = 1; length < bytes.length; length++) {
      expect(() => readSchedule(Buffer.from(bytes.subarray(0, length)), UNTRACED)).toThrow(
        /over the end|premature EOF/,
      )
    }
  })
})

describe('a batch', () => {
  const batch = (count: number): Buffer => {
    const requests = Array.from({ length: count }, (_, i) => ({
      ...ScheduleRequest.create(),
      task: aTask({ id: `t${i}` }),
    }))
    return Buffer.from(ScheduleBatchRequest.encode({ requests }).finish())
  }

  const idsOf = (calls: readonly ScheduleCall[]): string[] => calls.map(({ spec }) => spec.id)

  it('is read in order', async () => {
    expect(idsOf(await readScheduleBatch(batch(3), UNTRACED, unhurried()))).toEqual(['t0', 't1', 't2'])
  })

  it('is read in order also in slices, beside another', async () => {
    const [one, other] = await Promise.all([
      readScheduleBatch(batch(500), UNTRACED, hurried()),
      readScheduleBatch(batch(400), UNTRACED, hurried()),
    ])
    expect(idsOf(one)).toEqual(Array.from({ length: 500 }, (_, i) => `t${i}`))
    expect(idsOf(other)).toEqual(Array.from({ length: 400 }, (_, i) => `t${i}`))
  })

  it.each([0, 10_001])('of %i is refused, and names the limit', async (count) => {
    await expect(readScheduleBatch(batch(count), UNTRACED, hurried())).rejects.toThrow(
      /requests: must be 1 to 10000 .*, got/,
    )
  })
})

function outcomeOf(reading: () => unknown): string {
  try {
    reading()
    return 'read'
  } catch (error) {
    return error instanceof Error ? 'an error was thrown' : 'something else was thrown'
  }
}
