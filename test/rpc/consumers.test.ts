import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ResultFilter } from '../../proto/generated/punctual/v1/result.js'
import {
  type Consumer,
  Position,
  ScheduleRequest,
  type StreamResultsRequest,
  type StreamResultsResponse,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { aTask } from './requests.js'
import { failureOf, rpc, TestServer, type TestStream } from './test-server.js'

const EARLIEST = { $case: 'position' as const, value: Position.EARLIEST }
const DAY_MS = 24 * 60 * 60_000

async function runAll(test: TestServer, ...ids: string[]): Promise<void> {
  const requests = ids.map((id) => ScheduleRequest.create({ task: aTask({ id, handler: 'echo' }) }))
  await test.call(rpc.scheduleBatch, { requests })
  await test.clock.advance(0)
}

async function consumers(test: TestServer): Promise<readonly Consumer[]> {
  return (await test.call(rpc.listConsumers)).consumers
}
const consumer = async (test: TestServer, name: string): Promise<Consumer | undefined> =>
  (await consumers(test)).find((one) => one.name === name)

/** The next message with results, one task a message at most. */
async function nextIds(stream: TestStream): Promise<{ ids: string[]; cursor: string }> {
  let message: StreamResultsResponse | undefined
  do message = await stream.next()
  while (message?.results.length === 0)
  return { ids: (message?.results ?? []).map(({ taskId }) => taskId), cursor: message?.cursor ?? '' }
}

describe('a durable consumer', () => {
  it('begins where its first stream says, and each later one after what was acknowledged last', async () => {
    const test = await TestServer.start()
    await runAll(test, 'a', 'b')
    const first = test.stream({ consumer: 'billing', start: EARLIEST })
    const { ids, cursor } = await nextIds(first)
    expect(ids).toEqual(['a', 'b'])
    await test.call(rpc.ackResults, { consumer: 'billing', cursor })
    await runAll(test, 'c')
    expect((await nextIds(first)).ids).toEqual(['c'])
    first.call.cancel()
    // not acknowledged: it comes again, and the start counts no more
    for (let again = 0; again < 2; again++) {
      const next = test.stream({ consumer: 'billing', start: EARLIEST })
      expect((await nextIds(next)).ids).toEqual(['c'])
      next.call.cancel()
    }
  })

  it('begins at the end of the log unless told otherwise, on disk before its first message', async () => {
    const test = await TestServer.start()
    await runAll(test, 'before')
    const stream = test.stream({ consumer: 'new' })
    expect(await stream.next()).toMatchObject({ results: [], caughtUp: true })
    stream.call.cancel()
    await runAll(test, 'meanwhile')
    const again = test.stream({ consumer: 'new', stopWhenCaughtUp: true })
    expect(await again.idsUntilEnd()).toEqual(['meanwhile'])
  })

  it('is there again after a restart of the server, where it was', async () => {
    const data = mkdtempSync(join(tmpdir(), 'punctual-consumers-'))
    onTestFinished(() => rmSync(data, { recursive: true }))
    const one = await TestServer.start({ flags: { data } })
    await runAll(one, 'a', 'b')
    const stream = one.stream({ consumer: 'billing', start: EARLIEST })
    const { cursor } = await nextIds(stream)
    await one.call(rpc.ackResults, { consumer: 'billing', cursor })
    await runAll(one, 'c')
    await one.close()
    const other = await TestServer.start({ flags: { data } })
    expect(await consumer(other, 'billing')).toMatchObject({ cursor, lag: 1n, connected: false })
    expect(await other.stream({ consumer: 'billing', stopWhenCaughtUp: true }).idsUntilEnd()).toEqual(['c'])
  })

  it('is listed by name, with its position, its lag, its filter, its times', async () => {
    const test = await TestServer.start()
    expect(await consumers(test)).toEqual([])
    const filter = { ...ResultFilter.create(), handlers: ['echo'], labels: { team: 'x' } }
    const made = test.clock.now()
    const stream = test.stream({ consumer: 'b', filter, includeAttempts: true })
    const cursor = (await stream.next())?.cursor
    stream.call.cancel()
    await test.clock.advance(2_000)
    await test.stream({ consumer: 'a', lossy: true }).next()
    await runAll(test, 'x', 'y')
    const [a, b, ...others] = await consumers(test)
    expect(others).toEqual([])
    expect(a).toMatchObject({ name: 'a', lag: 2n, lossy: true, connected: true, includeAttempts: false })
    expect(b).toMatchObject({ name: 'b', cursor, lag: 2n, filter, lossy: false, includeAttempts: true })
    expect(b?.createTime?.seconds).toBe(BigInt(made / 1_000))
    expect(a?.createTime?.seconds).toBe(BigInt(made / 1_000 + 2))
    await expect.poll(async () => (await consumer(test, 'b'))?.connected).toBe(false)
    expect((await test.call(rpc.getStats)).consumers).toEqual(await consumers(test))
  })

  it('moves past what its filter leaves out', async () => {
    const test = await TestServer.start()
    const filter = { ...ResultFilter.create(), taskIds: ['mine'] }
    const stream = test.stream({ consumer: 'c', filter })
    await stream.next()
    await runAll(test, 'others')
    await test.clock.advance(15_000)
    const cursor = (await stream.next())?.cursor ?? ''
    await test.call(rpc.ackResults, { consumer: 'c', cursor })
    expect(await consumer(test, 'c')).toMatchObject({ lag: 0n })
  })

  it('keeps its filter: another one is refused, and the difference is named', async () => {
    const test = await TestServer.start()
    const filter = { ...ResultFilter.create(), handlers: ['echo', 'sleep'], labels: { team: 'x' } }
    await test.stream({ consumer: 'c', filter }).next()
    // the order of values means nothing
    const same = { ...filter, handlers: ['sleep', 'echo'] }
    expect(await test.stream({ consumer: 'c', filter: same }).next()).toMatchObject({ results: [] })
    const others: [Partial<StreamResultsRequest>, string][] = [
      [{ filter: { ...filter, handlers: ['echo'] } }, 'handlers'],
      [{ filter: { ...filter, labels: { team: 'y' } } }, 'labels'],
      [{ filter, includeAttempts: true }, 'include_attempts'],
      [{}, 'handlers, labels'],
    ]
    for (const [request, fields] of others) {
      const failure = await failureOf(test.stream({ consumer: 'c', ...request }).next())
      expect(failure).toMatchObject({ code: 'FAILED_PRECONDITION', reason: 'CONSUMER_MISMATCH' })
      expect(failure.facts).toEqual({ consumer: 'c', differs_in: fields })
    }
    // who is refused takes nothing over
    expect(await consumer(test, 'c')).toMatchObject({ connected: true })
  })

  it('has one stream at a time: the newer takes over, the older ends with ABORTED', async () => {
    const test = await TestServer.start()
    await runAll(test, 'a')
    const older = test.stream({ consumer: 'c', start: EARLIEST })
    await nextIds(older)
    const newer = test.stream({ consumer: 'c' })
    expect((await nextIds(newer)).ids).toEqual(['a'])
    const failure = await failureOf(older.next())
    expect(failure).toMatchObject({ code: 'ABORTED', reason: 'CONSUMER_TAKEN_OVER' })
    await runAll(test, 'b')
    expect((await nextIds(newer)).ids).toEqual(['b'])
    expect(await consumer(test, 'c')).toMatchObject({ connected: true })
    expect((await test.call(rpc.getStats)).openStreams).toBe(1n)
  })

  it('is taken over also from a reader that takes nothing any more', async () => {
    const test = await TestServer.start()
    const value = JSON.stringify('x'.repeat(400_000))
    const task = aTask({ handler: 'echo', payload: { $case: 'inputJson', value } })
    const requests = Array.from({ length: 8 }, () => ({ ...ScheduleRequest.create(), task }))
    for (let batch = 0; batch < 5; batch++) await test.call(rpc.scheduleBatch, { requests })
    await test.clock.advance(0)
    const stuck = test.stream({ consumer: 'c', start: EARLIEST })
    await stuck.next()
    stuck.call.pause()
    await test.stream({ consumer: 'c' }).next()
    await expect.poll(async () => (await test.call(rpc.getStats)).openStreams).toBe(1n)
  })

  it('is forgotten when it is deleted, and its stream ends', async () => {
    const test = await TestServer.start()
    await runAll(test, 'a')
    const stream = test.stream({ consumer: 'c', start: EARLIEST })
    const { cursor } = await nextIds(stream)
    await test.call(rpc.ackResults, { consumer: 'c', cursor })
    await test.call(rpc.deleteConsumer, { consumer: 'c' })
    expect(await failureOf(stream.next())).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'CONSUMER_NOT_FOUND',
    })
    expect(await consumers(test)).toEqual([])
    for (const call of [
      test.call(rpc.deleteConsumer, { consumer: 'c' }),
      test.call(rpc.ackResults, { consumer: 'c', cursor }),
    ])
      expect(await failureOf(call)).toMatchObject({ code: 'NOT_FOUND', reason: 'CONSUMER_NOT_FOUND' })
    // a new one of this name begins anew
    const anew = test.stream({ consumer: 'c', start: EARLIEST, stopWhenCaughtUp: true })
    expect(await anew.idsUntilEnd()).toEqual(['a'])
  })

  it('may be made by many streams at once: it is made once, and the last of them reads', async () => {
    const test = await TestServer.start()
    const streams = Array.from({ length: 10 }, () => test.stream({ consumer: 'c' }))
    await Promise.all(streams.map((stream) => stream.next()))
    expect(await consumers(test)).toHaveLength(1)
    await expect.poll(async () => (await test.call(rpc.getStats)).openStreams).toBe(1n)
  })

  it.each(['', 'ä', 'a b', 'a/b', 'x'.repeat(64)])('cannot be called %j', async (name) => {
    const test = await TestServer.start()
    const calls = [
      test.call(rpc.ackResults, { consumer: name }),
      test.call(rpc.deleteConsumer, { consumer: name }),
    ]
    for (const call of calls)
      expect(await failureOf(call)).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['consumer'] })
    if (name === '') return
    const failure = await failureOf(test.stream({ consumer: name }).next())
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['consumer'] })
  })

  it('is what lossy is about: without one it is refused', async () => {
    const test = await TestServer.start()
    const failure = await failureOf(test.stream({ lossy: true }).next())
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['lossy'] })
  })
})

describe('an acknowledgement', () => {
  it('moves forward only, and may be repeated', async () => {
    const test = await TestServer.start()
    const stream = test.stream({ consumer: 'c' })
    const cursors = [(await stream.next())?.cursor ?? '']
    for (const id of ['a', 'b']) {
      await runAll(test, id)
      cursors.push((await nextIds(stream)).cursor)
    }
    const [start, a, b] = cursors
    const acknowledge = async (cursor = '') =>
      (await test.call(rpc.ackResults, { consumer: 'c', cursor })).cursor
    expect(await acknowledge(a)).toBe(a)
    expect(await acknowledge(a)).toBe(a)
    expect(await acknowledge(b)).toBe(b)
    expect(await acknowledge(a)).toBe(b)
    expect(await acknowledge(start)).toBe(b)
    expect(await consumer(test, 'c')).toMatchObject({ cursor: b, lag: 0n })
  })

  it('of many at once leaves the furthest', async () => {
    const test = await TestServer.start()
    const stream = test.stream({ consumer: 'c' })
    await stream.next()
    const cursors: string[] = []
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await runAll(test, id)
      cursors.push((await nextIds(stream)).cursor)
    }
    const shuffled = [2, 4, 0, 3, 1].map((index) => cursors[index] ?? '')
    await Promise.all(shuffled.map((cursor) => test.call(rpc.ackResults, { consumer: 'c', cursor })))
    expect(await consumer(test, 'c')).toMatchObject({ cursor: cursors[4] })
  })

  it('of what was never given out is refused', async () => {
    const [test, other] = [await TestServer.start(), await TestServer.start()]
    const { logId = '', cursor } = (await test.stream({ consumer: 'c' }).next()) ?? {}
    const foreign = (await other.stream().next())?.cursor ?? ''
    const future = Buffer.from(`1:1000000:${logId}`).toString('base64url')
    for (const [wrong, code, reason] of [
      ['', 'INVALID_ARGUMENT', 'CURSOR_UNKNOWN'],
      ['garbage', 'INVALID_ARGUMENT', 'CURSOR_UNKNOWN'],
      [foreign, 'OUT_OF_RANGE', 'LOG_REPLACED'],
      [future, 'OUT_OF_RANGE', 'LOG_REPLACED'],
    ] as const) {
      const failure = await failureOf(test.call(rpc.ackResults, { consumer: 'c', cursor: wrong }))
      expect(failure).toMatchObject({ code, reason })
    }
    expect(await consumer(test, 'c')).toMatchObject({ cursor })
  })
})

describe('a consumer that nobody reads for', () => {
  it('is reported after 7 days, with when retention will stop waiting for it', async () => {
    const test = await TestServer.start()
    const lossy = test.stream({ consumer: 'may-lose', lossy: true })
    const stream = test.stream({ consumer: 'forgotten' })
    for (const one of [lossy, stream]) {
      await one.next()
      one.call.cancel()
    }
    await expect.poll(async () => (await consumers(test)).some(({ connected }) => connected)).toBe(false)
    const findings = async () => (await test.call(rpc.getStats)).findings
    await test.clock.advance(7 * DAY_MS - 1_000)
    expect(await findings()).toEqual([])
    await test.clock.advance(1_000)
    const [finding, ...others] = await findings()
    expect(others).toEqual([])
    expect(finding).toMatchObject({ kind: 'CONSUMER_IDLE' })
    expect(finding?.message).toMatch(/'forgotten'.*until 2030-01-09T/)
    await test.clock.advance(DAY_MS)
    expect((await findings())[0]?.message).toContain('does not keep entries for it any more')
    const back = test.stream({ consumer: 'forgotten' })
    await back.next()
    expect(await findings()).toEqual([])
  })
})
