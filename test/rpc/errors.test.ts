import { describe, expect, it } from 'vitest'
import {
  Position,
  ScheduleRequest,
  type StreamResultsRequest,
  TaskFilter,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import type { TaskStore } from '../../server/store/task-store.js'
import { StoreUnavailableError } from '../../server/task/errors.js'
import type { Log, LogFacts } from '../../server/task/log.js'
import { override } from '../../server/telemetry/port-override.js'
import { aTask } from './requests.js'
import { failureOf, rpc, type RpcFailure, TestServer } from './test-server.js'

const task = aTask({ id: 'a', handler: 'echo' })
const later = aTask({
  id: 'later',
  handler: 'echo',
  when: { $case: 'delay', value: { seconds: 60n, nanos: 0 } },
})
const CALLS: readonly [string, (test: TestServer) => Promise<unknown>][] = [
  ['Schedule', (test) => test.call(rpc.schedule, { task })],
  [
    'ScheduleBatch',
    (test) => test.call(rpc.scheduleBatch, { requests: [{ ...ScheduleRequest.create(), task }] }),
  ],
  ['Cancel', (test) => test.call(rpc.cancel, { id: 'later' })],
  ['CancelBatch', (test) => test.call(rpc.cancelBatch, { filter: TaskFilter.create() })],
  ['GetTask', (test) => test.call(rpc.getTask, { id: 'a' })],
  ['ListTasks', (test) => test.call(rpc.listTasks)],
  ['WaitForResult', (test) => test.call(rpc.waitForResult, { taskId: 'a' })],
  ['GetStats', (test) => test.call(rpc.getStats)],
  ['StreamResults', (test) => test.stream({ start: { $case: 'position', value: Position.EARLIEST } }).next()],
]

/** A store that fails as soon as it is told to. */
function breakable(error: () => Error): { wrap: (store: TaskStore) => TaskStore; fault: { is: boolean } } {
  const fault = { is: false }
  const failing =
    <Args extends readonly unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (fault.is) throw error()
      return method(...args)
    }
  const wrap = (store: TaskStore): TaskStore =>
    override(store, {
      insert: failing((requests) => store.insert(requests)),
      get: failing((ids) => store.get(ids)),
      list: failing((query) => store.list(query)),
      update: failing((transitions) => store.update(transitions)),
      findResult: failing((id, run) => store.findResult(id, run)),
      lookUp: failing((id) => store.lookUp(id)),
      stats: failing(() => store.stats()),
    })
  return { wrap, fault }
}

describe('a store that fails', () => {
  it.each(CALLS)(
    'is UNAVAILABLE for %s, with when to try again; when it is back, so is the call (C118)',
    async (_, call) => {
      const { wrap, fault } = breakable(() => new StoreUnavailableError('the disk is full'))
      const test = await TestServer.start({ store: wrap })
      await test.call(rpc.schedule, { task })
      await test.call(rpc.schedule, { task: later })
      await test.clock.advance(0)
      fault.is = true
      const failure = await failureOf(call(test))
      expect(failure).toMatchObject({ code: 'UNAVAILABLE', reason: 'STORE_UNAVAILABLE' })
      expect(failure.message).toContain('the disk is full')
      fault.is = false
      await test.clock.advance(0)
      expect(await call(test)).toBeDefined()
    },
  )

  // a change is not refused as INTERNAL: the scheduler takes whatever the store says for trouble, and tries again
  it.each(CALLS.filter(([name]) => name !== 'Cancel'))(
    'in a way that nobody foresaw is INTERNAL for %s: logged whole, the caller learns no more',
    async (_, call) => {
      const logged: LogFacts[] = []
      const { wrap, fault } = breakable(() => new Error('SQLITE_CORRUPT at secret place'))
      const test = await TestServer.start({ store: wrap, log: keeping(logged) })
      await test.call(rpc.schedule, { task })
      await test.call(rpc.schedule, { task: later })
      await test.clock.advance(0)
      fault.is = true
      const failure = await failureOf(call(test))
      expect(failure).toMatchObject({ code: 'INTERNAL', reason: 'INTERNAL' })
      expect(failure.message).not.toContain('secret')
      const entry = logged.find(({ incident }) => incident === failure.facts.incident)
      expect(entry?.error).toMatchObject({ message: 'SQLITE_CORRUPT at secret place' })
    },
  )
})

describe('an error', () => {
  const huge = 'é'.repeat(100_000)
  it.each<[string, (test: TestServer) => Promise<unknown>]>([
    ['about a huge id', (test) => test.call(rpc.getTask, { id: huge })],
    ['about a huge handler', (test) => test.call(rpc.schedule, { task: aTask({ handler: huge }) })],
    [
      'about a huge label',
      (test) => test.call(rpc.schedule, { task: aTask({ handler: 'echo', labels: { [huge]: huge } }) }),
    ],
    [
      'about huge keys in JSON',
      (test) => schedule(test, JSON.stringify({ [huge]: { [huge]: 1 } }).replace('1', '9007199254740993')),
    ],
    [
      'about 1,000 wrong numbers',
      (test) => schedule(test, `[${'9007199254740993,'.repeat(999)}9007199254740993]`),
    ],
    ['about 500 wrong ids in a filter', (test) => test.stream(filterOf(500)).next()],
    ['about a huge page token', (test) => test.call(rpc.listTasks, { pageToken: huge })],
    [
      'about a health check of a huge name',
      (test) => test.callRaw('/grpc.health.v1.Health/Check', nameOf(huge)),
    ],
  ])('%s stays small, and the connection goes on', async (_, call) => {
    const test = await TestServer.start()
    const failure = await failureOf(call(test))
    expect(sizeOf(failure)).toBeLessThan(8_192)
    expect((await test.call(rpc.getServerInfo)).version).not.toBe('')
  })

  it('with many violations names the first 20 and says how many there are', async () => {
    const test = await TestServer.start()
    const failure = await failureOf(schedule(test, `[${'9007199254740993,'.repeat(49)}9007199254740993]`))
    expect(failure.fields).toHaveLength(20)
    expect(failure.facts.violations).toBe('50')
  })

  it('with half a surrogate pair in its text is sent all the same', async () => {
    const test = await TestServer.start()
    const failure = await failureOf(schedule(test, String.raw`{"\ud800": "\udfff"}`))
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'INVALID_TASK' })
  })
})

describe('a call that nobody waits for any more', () => {
  it('ends for its caller at its deadline, and the server goes on to serve (C119)', async () => {
    const test = await TestServer.start()
    const bytes = rpc.waitForResult.requestSerialize({
      taskId: 'a',
      run: undefined,
      wait: undefined,
      outputFormat: 0,
    })
    await test.call(rpc.schedule, {
      task: aTask({ id: 'a', handler: 'echo', when: { $case: 'delay', value: { seconds: 60n, nanos: 0 } } }),
    })
    const failure = await failureOf(
      test.callRaw(rpc.waitForResult.path, bytes, { deadline: Date.now() + 50 }),
    )
    expect(failure.code).toBe('DEADLINE_EXCEEDED')
    expect((await test.call(rpc.getTask, { id: 'a' })).task?.spec?.id).toBe('a')
  })
})

function schedule(test: TestServer, inputJson: string): Promise<unknown> {
  return test.call(rpc.schedule, {
    task: aTask({ handler: 'echo', payload: { $case: 'inputJson', value: inputJson } }),
  })
}

function filterOf(ids: number): Partial<StreamResultsRequest> {
  const taskIds = Array.from({ length: ids }, (_, i) => `not an id ${i}`)
  return { filter: { taskIds, handlers: [], labels: {}, outcomes: [], origins: [] } }
}

/** `HealthCheckRequest.service` has the number that `GetTaskRequest.id` has. */
const nameOf = (name: string): Buffer => rpc.getTask.requestSerialize({ id: name, outputFormat: 0 })

/** As it travels: the message percent-encoded, the details in base64. */
const sizeOf = ({ message, detailBytes }: RpcFailure): number =>
  encodeURI(message).length + (detailBytes * 4) / 3

function keeping(facts: LogFacts[]): Log {
  const keep = (_: string, more: LogFacts = {}): void => {
    facts.push(more)
  }
  return { debug: keep, info: keep, warn: keep, error: keep }
}
