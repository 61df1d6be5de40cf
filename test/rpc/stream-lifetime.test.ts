import { describe, expect, it } from 'vitest'
import { Position, ScheduleRequest } from '../../proto/generated/punctual/v1/scheduler_service.js'
import type { TaskStore } from '../../server/store/task-store.js'
import { override } from '../../server/telemetry/port-override.js'
import { aTask } from './requests.js'
import { failureOf, rpc, TestServer } from './test-server.js'

const EARLIEST = { $case: 'position' as const, value: Position.EARLIEST }
const openStreams = async (test: TestServer): Promise<bigint> => (await test.call(rpc.getStats)).openStreams

async function runAll(test: TestServer, count: number, bytes = 0): Promise<void> {
  const payload = { $case: 'inputJson' as const, value: JSON.stringify('x'.repeat(bytes)) }
  const task = aTask({ handler: 'echo', payload })
  const requests = Array.from({ length: count }, () => ({ ...ScheduleRequest.create(), task }))
  await test.call(rpc.scheduleBatch, { requests })
  await test.clock.advance(0)
}

describe('a reader that goes away', () => {
  it('is gone for the server too, which reads no further (C110)', async () => {
    const reads: number[] = []
    const test = await TestServer.start({ store: (store) => counting(store, reads) })
    // more than the newest 4 MiB that are in memory
    for (let i = 0; i < 5; i++) await runAll(test, 10, 400_000)
    const stream = test.stream({ start: EARLIEST })
    await stream.next()
    await stream.next()
    stream.call.cancel()
    await expect.poll(() => openStreams(test)).toBe(0n)
    const readSoFar = reads.length
    await test.clock.advance(60_000)
    expect(reads.length).toBe(readSoFar)
    expect(readSoFar).toBeLessThan(15)
  })

  it('by its deadline is gone as well (C119)', async () => {
    const test = await TestServer.start()
    const stream = test.stream({}, { deadline: Date.now() + 100 })
    const ended = async (): Promise<void> => {
      while (await stream.next());
    }
    expect((await failureOf(ended())).code).toBe('DEADLINE_EXCEEDED')
    await expect.poll(() => openStreams(test)).toBe(0n)
  })
})

describe('a reader that is slow', () => {
  it('is read for at its own pace: what it does not take is not read from the store (C101)', async () => {
    const reads: number[] = []
    const test = await TestServer.start({ store: (store) => counting(store, reads) })
    for (let i = 0; i < 10; i++) await runAll(test, 10, 400_000)
    const stream = test.stream({ start: EARLIEST })
    await stream.next()
    const paused = stream.call.pause()
    await runAll(test, 1)
    await expect.poll(() => reads.length).toBeGreaterThan(0)
    // 40 MB wait; the sockets and one batch hold a few of them
    expect(reads.length).toBeLessThan(15)
    paused.resume()
    let results = 0
    while (results < 101) results += (await stream.next())?.results.length ?? 101
    expect(results).toBe(101)
  })

  it('disturbs no other reader', async () => {
    const test = await TestServer.start()
    const slow = test.stream({ start: EARLIEST })
    await slow.next()
    slow.call.pause()
    for (let i = 0; i < 5; i++) await runAll(test, 10, 400_000)
    const quick = test.stream({ start: EARLIEST, stopWhenCaughtUp: true })
    expect(await quick.idsUntilEnd()).toHaveLength(50)
  })
})

describe('streams', () => {
  it('are limited, and the limit is named', async () => {
    const test = await TestServer.start({ flags: { maxStreams: '2' } })
    const streams = [test.stream(), test.stream()]
    for (const stream of streams) await stream.next()
    const failure = await failureOf(test.stream().next())
    expect(failure).toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      reason: 'TOO_MANY_STREAMS',
      facts: { limit: '2' },
    })
    streams[0]?.call.cancel()
    await expect.poll(() => openStreams(test)).toBe(1n)
    expect(await test.stream().next()).toMatchObject({ caughtUp: true })
  })

  it('may be 200 at once, and each gets everything', async () => {
    const test = await TestServer.start()
    const client = test.client()
    const streams = Array.from({ length: 200 }, () => test.stream({}, { client }))
    await Promise.all(streams.map((stream) => stream.next()))
    await runAll(test, 5)
    for (const stream of streams) {
      let results = 0
      while (results < 5) results += (await stream.next())?.results.length ?? 5
      expect(results).toBe(5)
    }
  })

  it('end at a stop with UNAVAILABLE, after what ended meanwhile and their last cursor (C087)', async () => {
    const test = await TestServer.start({
      run: async ({ payload }, { sleep }) => {
        await sleep(1_000)
        return { kind: 'succeeded', output: payload }
      },
    })
    const stream = test.stream()
    await stream.next()
    await test.call(rpc.schedule, { task: aTask({ id: 'a', handler: 'echo' }) })
    await test.clock.advance(0)
    const stopped = test.server.stop(30_000)
    const refused = await failureOf(test.call(rpc.schedule, { task: aTask({ handler: 'echo' }) }))
    expect(refused).toMatchObject({ code: 'UNAVAILABLE', reason: 'DRAINING' })
    await test.clock.advance(1_000)
    const last = await stream.next()
    expect(last?.results.map(({ taskId }) => taskId)).toEqual(['a'])
    const end = await failureOf(stream.next())
    expect(end).toMatchObject({ code: 'UNAVAILABLE', reason: 'DRAINING' })
    expect(await stopped).toBe(true)
  })
})

function counting(store: TaskStore, reads: number[]): TaskStore {
  return override(store, {
    readLog: async (query) => {
      reads.push(query.after)
      return store.readLog(query)
    },
  })
}
