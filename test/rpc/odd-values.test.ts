import { describe, expect, it } from 'vitest'
import type { OutputFormat } from '../../proto/generated/punctual/v1/result.js'
import type { TaskView } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { Recurrence, type TaskSpec } from '../../proto/generated/punctual/v1/task.js'
import { aTask } from './requests.js'
import { failureOf, rpc, type RpcFailure, TestServer } from './test-server.js'

const LATER = { $case: 'delay' as const, value: { seconds: 60n, nanos: 0 } }
const LARGEST = 2n ** 63n - 1n

async function refusal(task: Partial<TaskSpec>): Promise<RpcFailure> {
  const test = await TestServer.start()
  const failure = await failureOf(test.call(rpc.schedule, { task: aTask({ handler: 'echo', ...task }) }))
  expect((await test.call(rpc.listTasks)).tasks).toEqual([])
  return failure
}

describe('a text that is too long', () => {
  it.each<[string, Partial<TaskSpec>]>([
    ['task.traceparent', { traceparent: '0'.repeat(129) }],
    ['task.traceparent', { traceparent: '0'.repeat(100_000) }],
    ['task.tracestate', { tracestate: 'a'.repeat(100_000) }],
    ['task.origin', { origin: 'a'.repeat(100_000) }],
    ['task.concurrency_key', { concurrencyKey: 'a'.repeat(100_000) }],
  ])('is refused by name: %s', async (field, task) => {
    expect(await refusal(task)).toMatchObject({ code: 'INVALID_ARGUMENT', fields: [field] })
  })
})

describe('a time that cannot be', () => {
  const delay = (seconds: bigint, nanos = 0) => ({
    when: { $case: 'delay' as const, value: { seconds, nanos } },
  })
  it.each<[string, string, Partial<TaskSpec>]>([
    ['a negative delay', 'task.delay', delay(-1n)],
    ['a delay beyond the limit of a Duration', 'task.delay', delay(315_576_000_001n)],
    ['a delay that says plus and minus', 'task.delay', delay(1n, -5)],
    ['a delay into the year 10000', 'task.delay', delay(300_000_000_000n)],
    ['a delay of the largest number', 'task.delay', delay(LARGEST)],
    [
      'a due time in the year 10000',
      'task.due_time',
      { when: { $case: 'dueTime', value: { seconds: 253_402_300_800n, nanos: 0 } } },
    ],
    [
      'an interval of nothing',
      'task.recurrence.every',
      { recurrence: { ...Recurrence.create(), rule: { $case: 'every', value: { seconds: 0n, nanos: 0 } } } },
    ],
  ])('%s is refused (C010, C127)', async (_, field, task) => {
    expect(await refusal(task)).toMatchObject({ code: 'INVALID_ARGUMENT', fields: [field] })
  })
})

describe('a number beyond 2^53', () => {
  it.each([9_007_199_254_740_993n, LARGEST])(
    'is kept exactly or refused by its field: %s (C123)',
    async (large) => {
      const test = await TestServer.start()
      const recurrence = {
        ...Recurrence.create(),
        rule: { $case: 'every' as const, value: { seconds: 60n, nanos: 0 } },
        maxRuns: large,
      }
      const runs = await failureOf(
        test.call(rpc.schedule, { task: aTask({ handler: 'echo', when: LATER, recurrence }) }),
      )
      expect(runs.fields).toEqual(['task.recurrence.max_runs'])
      await test.call(rpc.schedule, { task: aTask({ id: 'a', handler: 'echo' }) })
      await test.clock.advance(0)
      const waiting = await failureOf(test.call(rpc.waitForResult, { taskId: 'a', run: large }))
      expect(waiting.fields).toEqual(['run'])
    },
  )
})

describe('a choice that this server does not know', () => {
  it.each<[string, (test: TestServer) => Promise<unknown>]>([
    ['output_format', (test) => test.call(rpc.getTask, { id: 'a', outputFormat: 9 as OutputFormat })],
    [
      'output_format',
      (test) => test.call(rpc.waitForResult, { taskId: 'a', outputFormat: 9 as OutputFormat }),
    ],
    ['output_format', (test) => test.stream({ outputFormat: 9 as OutputFormat }).next()],
    ['position', (test) => test.stream({ start: { $case: 'position', value: 9 as never } }).next()],
    ['view', (test) => test.call(rpc.listTasks, { view: 9 as TaskView })],
  ])('is refused by its field: %s', async (field, call) => {
    const test = await TestServer.start()
    expect(await failureOf(call(test))).toMatchObject({ code: 'INVALID_ARGUMENT', fields: [field] })
  })
})

describe('a field that only a newer server knows', () => {
  /** Field 99, a number. */
  const NEWER = Buffer.of(0x98, 0x06, 0x01)
  it.each([
    ['Cancel', rpc.cancel.path],
    ['ListTasks', rpc.listTasks.path],
    ['ScheduleBatch', rpc.scheduleBatch.path],
    ['GetStats', rpc.getStats.path],
  ])('is refused by its number, never ignored: %s', async (_, path) => {
    const test = await TestServer.start()
    const failure = await failureOf(test.callRaw(path, NEWER))
    expect(failure).toMatchObject({
      code: 'UNIMPLEMENTED',
      reason: 'NOT_BUILT',
      facts: { fields: 'request (field 99)' },
    })
  })

  it('also in a request for a stream, and in what a request holds', async () => {
    const test = await TestServer.start()
    const inFilter = Buffer.concat([Buffer.of(0x0a, NEWER.length), NEWER])
    const failure = await failureOf(test.callRaw(rpc.listTasks.path, inFilter))
    expect(failure).toMatchObject({ code: 'UNIMPLEMENTED', facts: { fields: 'request (field 99)' } })
    const streamed = await failureOf(test.callRaw(rpc.streamResults.path, NEWER))
    expect(streamed).toMatchObject({ code: 'UNIMPLEMENTED', reason: 'NOT_BUILT' })
  })
})
