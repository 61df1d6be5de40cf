import { describe, expect, it } from 'vitest'
import {
  Outcome,
  OutputFormat,
  type ResultFilter,
  ResultKind,
} from '../../proto/generated/punctual/v1/result.js'
import { Position, ScheduleRequest } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { RetryPolicy, type TaskSpec } from '../../proto/generated/punctual/v1/task.js'
import type { RunInProcess } from '../../testing/in-process-executor.js'
import { aTask } from './requests.js'
import { failureOf, rpc, TestServer, type TestStream } from './test-server.js'

const seconds = (value: number) => ({ seconds: BigInt(value), nanos: 0 })
const EARLIEST = { $case: 'position' as const, value: Position.EARLIEST }
const afterCursor = (value: string) => ({ $case: 'afterCursor' as const, value })
const NO_FILTER: ResultFilter = { taskIds: [], handlers: [], labels: {}, outcomes: [], origins: [] }

/** Runs tasks to their end, in order. */
async function runAll(test: TestServer, tasks: Partial<TaskSpec>[]): Promise<void> {
  const requests = tasks.map((task) => ({
    ...ScheduleRequest.create(),
    task: aTask({ handler: 'echo', ...task }),
  }))
  await test.call(rpc.scheduleBatch, { requests })
  await test.clock.advance(0)
}
const many = (count: number, from = 1, rest: Partial<TaskSpec> = {}): Partial<TaskSpec>[] =>
  Array.from({ length: count }, (_, i) => ({ id: `t${from + i}`, ...rest }))

async function until(stream: TestStream, count: number): Promise<{ ids: string[]; cursor: string }> {
  const ids: string[] = []
  let cursor = ''
  while (ids.length < count) {
    const message = await stream.next()
    if (!message) break
    ids.push(...message.results.map(({ taskId }) => taskId))
    cursor = message.cursor
  }
  return { ids, cursor }
}

describe('a stream of results', () => {
  it('says at once that it is connected and where it stands, also on an empty log', async () => {
    const test = await TestServer.start()
    for (const start of [undefined, EARLIEST]) {
      const first = await test.stream({ start }).next()
      expect(first).toMatchObject({ results: [], caughtUp: true })
      expect(first?.cursor).not.toBe('')
    }
  })

  it('replays, then goes on live, without a gap or a double', async () => {
    const test = await TestServer.start()
    await runAll(test, many(100))
    const stream = test.stream({ start: EARLIEST })
    const replayed = await until(stream, 100)
    await runAll(test, many(50, 101))
    const live = await until(stream, 50)
    expect(new Set([...replayed.ids, ...live.ids]).size).toBe(150)
  })

  it('goes on after its cursor: nothing skipped, nothing twice (C103)', async () => {
    const test = await TestServer.start()
    const all: string[] = []
    let cursor = ''
    for (let round = 0; round < 4; round++) {
      await runAll(test, many(25, 1 + round * 25))
      const start = cursor === '' ? EARLIEST : afterCursor(cursor)
      const read = await until(test.stream({ start }), 25)
      all.push(...read.ids)
      cursor = read.cursor
    }
    expect(new Set(all).size).toBe(100)
    expect(all).toHaveLength(100)
    const rest = test.stream({ start: afterCursor(cursor), stopWhenCaughtUp: true })
    expect(await rest.idsUntilEnd()).toEqual([])
  })

  it('starts after the newest result unless told otherwise', async () => {
    const test = await TestServer.start()
    await runAll(test, many(3))
    const stream = test.stream()
    expect(await stream.next()).toMatchObject({ results: [], caughtUp: true })
    await runAll(test, many(1, 4))
    expect((await until(stream, 1)).ids).toEqual(['t4'])
  })

  it('starts at a time', async () => {
    const test = await TestServer.start()
    await runAll(test, many(2))
    await test.clock.advance(10_000)
    const since = seconds(test.clock.now() / 1_000)
    await runAll(test, many(2, 3))
    const stream = test.stream({ start: { $case: 'since', value: since }, stopWhenCaughtUp: true })
    expect((await stream.idsUntilEnd()).toSorted()).toEqual(['t3', 't4'])
  })

  it('sends a task that Schedule answered after the cursor of that answer', async () => {
    const test = await TestServer.start()
    await runAll(test, many(3))
    const { cursor } = await test.call(rpc.schedule, { task: aTask({ id: 'mine', handler: 'echo' }) })
    await test.clock.advance(0)
    expect(await test.stream({ start: afterCursor(cursor), stopWhenCaughtUp: true }).idsUntilEnd()).toContain(
      'mine',
    )
  })

  it('filters by task, handler, label, outcome and origin, and moves its cursor past the rest', async () => {
    const test = await TestServer.start({ run: failing('b') })
    await runAll(test, [
      { id: 'a', labels: { team: 'x' }, origin: 'one' },
      { id: 'b', labels: { team: 'y' } },
      { id: 'c', handler: 'fibonacci', payload: { $case: 'input', value: { n: 1 } } },
    ])
    const ids = async (filter: Partial<ResultFilter>): Promise<string[]> => {
      const request = { start: EARLIEST, stopWhenCaughtUp: true, filter: { ...NO_FILTER, ...filter } }
      return (await test.stream(request).idsUntilEnd()).toSorted()
    }
    expect(await ids({})).toEqual(['a', 'b', 'c'])
    expect(await ids({ taskIds: ['a', 'c', 'unknown'] })).toEqual(['a', 'c'])
    expect(await ids({ handlers: ['fibonacci'] })).toEqual(['c'])
    expect(await ids({ labels: { team: 'x' } })).toEqual(['a'])
    expect(await ids({ outcomes: [Outcome.FAILED] })).toEqual(['b'])
    expect(await ids({ origins: ['one'] })).toEqual(['a'])
    const nothing = test.stream({
      start: EARLIEST,
      filter: { ...NO_FILTER, taskIds: ['unknown'] },
      stopWhenCaughtUp: true,
    })
    const first = await nothing.next()
    const last = await nothing.next()
    expect(last).toMatchObject({ results: [], caughtUp: true })
    expect(last?.cursor).not.toBe(first?.cursor)
  })

  it('shows attempts that did not end their run when asked to, and nothing after the result (C108)', async () => {
    let failures = 0
    const test = await TestServer.start({
      run: () => {
        if (failures++ < 2) throw new Error('not yet')
        return { kind: 'succeeded', output: { kind: 'none' } }
      },
    })
    await runAll(test, [{ id: 'a', retry: { ...RetryPolicy.create(), maxAttempts: 3 } }])
    await test.clock.advance(60_000)
    const kinds = async (includeAttempts: boolean): Promise<unknown[]> => {
      const stream = test.stream({ start: EARLIEST, stopWhenCaughtUp: true, includeAttempts })
      await stream.next()
      return ((await stream.next())?.results ?? []).map(({ kind, attempts }) => [kind, attempts])
    }
    expect(await kinds(false)).toEqual([[ResultKind.RESULT, 3]])
    expect(await kinds(true)).toEqual([
      [ResultKind.ATTEMPT, 1],
      [ResultKind.ATTEMPT, 2],
      [ResultKind.RESULT, 3],
    ])
    const live = test.stream({ filter: { ...NO_FILTER, taskIds: ['a'] }, includeAttempts: true })
    await live.next()
    await test.clock.advance(60_000)
    expect(await live.next()).toMatchObject({ results: [], caughtUp: true })
  })

  it('sends outputs as Values or as JSON text', async () => {
    const test = await TestServer.start()
    await runAll(test, [{ id: 'a', payload: { $case: 'inputJson', value: '{"a": [1, null]}' } }])
    const payload = async (outputFormat: OutputFormat): Promise<unknown> => {
      const stream = test.stream({ start: EARLIEST, outputFormat })
      await stream.next()
      return (await stream.next())?.results[0]?.payload
    }
    expect(await payload(OutputFormat.UNSPECIFIED)).toEqual({ $case: 'output', value: { a: [1, null] } })
    expect(await payload(OutputFormat.JSON)).toEqual({ $case: 'outputJson', value: '{"a": [1, null]}' })
  })

  it('proves in each silence that it lives', async () => {
    const test = await TestServer.start()
    const stream = test.stream({ heartbeatInterval: { seconds: 0n, nanos: 500_000_000 } })
    const first = await stream.next()
    for (let beat = 0; beat < 3; beat++) {
      await test.clock.advance(500)
      expect(await stream.next()).toEqual(first)
    }
  })

  it('moves its cursor with heartbeats past what the filter leaves out', async () => {
    const test = await TestServer.start()
    const stream = test.stream({ filter: { ...NO_FILTER, taskIds: ['other'] } })
    const first = await stream.next()
    await runAll(test, many(5))
    await test.clock.advance(15_000)
    const beat = await stream.next()
    expect(beat).toMatchObject({ results: [], caughtUp: true })
    expect(beat?.cursor).not.toBe(first?.cursor)
  })

  it('never ends by itself, and never asks whether a task exists (C111)', async () => {
    const test = await TestServer.start()
    const stream = test.stream({ start: EARLIEST, filter: { ...NO_FILTER, taskIds: ['unknown'] } })
    expect(await stream.next()).toMatchObject({ results: [], caughtUp: true })
    await runAll(test, [{ id: 'unknown' }])
    expect((await until(stream, 1)).ids).toEqual(['unknown'])
  })

  it('keeps messages of large results to about 1 MiB', async () => {
    const test = await TestServer.start()
    const value = JSON.stringify('x'.repeat(300_000))
    await runAll(test, many(8, 1, { payload: { $case: 'inputJson', value } }))
    const stream = test.stream({ start: EARLIEST, stopWhenCaughtUp: true, outputFormat: OutputFormat.JSON })
    const sizes: number[] = []
    for (let message = await stream.next(); message; message = await stream.next())
      sizes.push(message.results.length)
    expect(sizes.filter((size) => size > 0)).toEqual([3, 3, 2])
  })
})

describe('a start that cannot be had', () => {
  it.each(['garbage', '-1', '9223372036854775807', 'MTotMTpsb2c', 'x'.repeat(10_000)])(
    'is no cursor: %s (C106)',
    async (cursor) => {
      const test = await TestServer.start()
      const failure = await failureOf(test.stream({ start: afterCursor(cursor) }).next())
      expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'CURSOR_UNKNOWN' })
    },
  )

  it('lies in the future (C106)', async () => {
    const test = await TestServer.start()
    const logId = (await test.stream().next())?.logId ?? ''
    const future = Buffer.from(`1:1000000:${logId}`).toString('base64url')
    const failure = await failureOf(test.stream({ start: afterCursor(future) }).next())
    expect(failure).toMatchObject({ code: 'OUT_OF_RANGE', reason: 'LOG_REPLACED' })
  })

  it('belongs to another log', async () => {
    const [one, other] = [await TestServer.start(), await TestServer.start()]
    const cursor = (await one.stream().next())?.cursor ?? ''
    const failure = await failureOf(other.stream({ start: afterCursor(cursor) }).next())
    expect(failure).toMatchObject({ code: 'OUT_OF_RANGE', reason: 'LOG_REPLACED' })
  })

  it('is told with every other violation at once', async () => {
    const test = await TestServer.start()
    const failure = await failureOf(
      test
        .stream({
          filter: { ...NO_FILTER, taskIds: ['', 'ok'], outcomes: [99 as never] },
          start: { $case: 'position', value: 7 as never },
          heartbeatInterval: seconds(0),
        })
        .next(),
    )
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' })
    expect(failure.fields).toEqual([
      'filter.task_ids[0]',
      'filter.outcomes[0]',
      'position',
      'heartbeat_interval',
    ])
  })
})

function failing(id: string): RunInProcess {
  return ({ taskId, payload }) => {
    if (taskId === id) throw new Error('on purpose')
    return { kind: 'succeeded', output: payload }
  }
}
