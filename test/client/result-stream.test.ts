import { describe, expect, it } from 'vitest'
import {
  ClientClosedError,
  ConsumerTakenOverError,
  CursorLostError,
  InvalidRequestError,
  UnavailableError,
} from '../../client/index.js'
import { Outcome, OutputFormat, ResultKind } from '../../proto/generated/punctual/v1/result.js'
import { Position } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { countedSignal, startClient } from '../support/client-of.js'
import { resultMessage } from '../support/messages.js'
import { RpcError } from '../support/rpc-error.js'

describe('a loop over results', () => {
  it('asks for JSON outputs, with filter, start and heartbeat', async () => {
    const { service, client } = await startClient({ heartbeatMs: 2_500 })
    const filter = {
      taskIds: ['a'],
      handlers: ['echo'],
      labels: { team: 'a' },
      outcomes: ['failed' as const],
      origins: ['o'],
    }
    const since = new Date('2030-01-01T00:00:00.250Z')
    const loop = client.results({ filter, since, includeAttempts: true, untilCaughtUp: true })
    const read = collect(loop)
    const stream = await service.stream()
    expect(stream.request).toMatchObject({
      filter: { ...filter, outcomes: [Outcome.FAILED] },
      start: { $case: 'since', value: { seconds: 1_893_456_000n, nanos: 250_000_000 } },
      includeAttempts: true,
      stopWhenCaughtUp: true,
      heartbeatInterval: { seconds: 2n, nanos: 500_000_000 },
      outputFormat: OutputFormat.JSON,
    })
    stream.end()
    expect(await read).toEqual([])
  })

  it('gets plain results in order: dates, numbers, lateness, the parsed output', async () => {
    const { service, client } = await startClient()
    const read = collect(client.results({ from: 'earliest', untilCaughtUp: true }))
    const stream = await service.stream()
    expect(stream.request.start).toEqual({ $case: 'position', value: Position.EARLIEST })
    const failed = resultMessage('b', {
      outcome: Outcome.FAILED,
      payload: undefined,
      error: { code: 'HANDLER_ERROR', message: 'no', stack: 's', name: 'Error', cause: '' },
    })
    stream.send({ results: [resultMessage('a', { sequence: 7n }), failed], cursor: 'c2' })
    stream.end()
    const [a, b] = await read
    expect(a).toEqual({
      kind: 'result',
      outcome: 'succeeded',
      output: 'output of a',
      sequence: 7,
      taskId: 'a',
      handler: 'echo',
      run: 1,
      attempts: 1,
      interruptedAttempts: 0,
      dueTime: new Date('2030-01-01T00:00:00.000Z'),
      startTime: new Date('2030-01-01T00:00:00.001Z'),
      endTime: new Date('2030-01-01T00:00:00.003Z'),
      commitTime: new Date('2030-01-01T00:00:00.004Z'),
      latenessMs: 1.5,
      durationMs: 2.25,
      workerId: 'thread-1',
      labels: {},
      traceId: '',
      origin: '',
      last: true,
      manual: false,
    })
    expect(b).toMatchObject({ outcome: 'failed', error: { code: 'HANDLER_ERROR', message: 'no' } })
    expect(() => JSON.stringify([a, b])).not.toThrow()
  })

  it('knows attempts, skips, cancels and bytes', async () => {
    const { service, client } = await startClient()
    const read = collect(client.results({ untilCaughtUp: true }))
    const stream = await service.stream()
    stream.send({
      cursor: 'c',
      results: [
        resultMessage('a', { kind: ResultKind.ATTEMPT, outcome: Outcome.TIMED_OUT, payload: undefined }),
        resultMessage('b', {
          outcome: Outcome.SKIPPED,
          skipReason: 4,
          skippedCount: 3n,
          startTime: undefined,
        }),
        resultMessage('c', { outcome: Outcome.CANCELLED, cancelStage: 3 }),
        resultMessage('d', { payload: { $case: 'outputBytes', value: Buffer.from([7]) } }),
        resultMessage('e', { outcome: Outcome.EXPIRED, startTime: undefined }),
      ],
    })
    stream.end()
    const [a, b, c, d, e] = await read
    expect(a).toMatchObject({ kind: 'attempt', outcome: 'timedOut' })
    expect(b).toMatchObject({ outcome: 'skipped', skipReason: 'dstGap', skippedCount: 3 })
    expect(b).not.toHaveProperty('latenessMs')
    expect(c).toMatchObject({ outcome: 'cancelled', cancelStage: 'terminated' })
    expect(d).toMatchObject({ output: new Uint8Array([7]) })
    expect(e).toMatchObject({ outcome: 'expired' })
  })
})

describe('after a break', () => {
  it('goes on after the last cursor: nothing skipped, nothing twice', async () => {
    const broken: string[] = []
    const { service, client, clock } = await startClient({ onBreak: ({ message }) => broken.push(message) })
    const loop = client.results({ from: 'earliest' })[Symbol.asyncIterator]()
    const earliest = taskId(loop.next())
    const first = await service.stream(1)
    first.send({ results: [resultMessage('a'), resultMessage('b')], cursor: 'after b' })
    expect(await earliest).toBe('a')
    first.fail()
    expect(await taskId(loop.next())).toBe('b')
    const next = taskId(loop.next())
    await clock.timer((ms) => ms === 100)
    expect(service.streams).toHaveLength(1)
    clock.advance(100)
    const second = await service.stream(2)
    expect(second.request.start).toEqual({ $case: 'afterCursor', value: 'after b' })
    second.send({ results: [resultMessage('c')], cursor: 'after c' })
    expect(await next).toBe('c')
    expect(broken).toEqual(['the server stops'])
    await loop.return?.()
  })

  it('also after a heartbeat alone, whose cursor passes what the filter left out', async () => {
    const { service, client, clock } = await startClient()
    const loop = client.results()[Symbol.asyncIterator]()
    const next = taskId(loop.next())
    const first = await service.stream(1)
    first.send({ cursor: 'c9', caughtUp: true })
    first.fail()
    await clock.timer((ms) => ms === 100)
    clock.advance(100)
    const second = await service.stream(2)
    expect(second.request.start).toEqual({ $case: 'afterCursor', value: 'c9' })
    second.send({ results: [resultMessage('a')], cursor: 'c10' })
    expect(await next).toBe('a')
    await loop.return?.()
  })

  it.each([
    ['the server ends it well', undefined],
    ['a connection is reset', new RpcError('INTERNAL', 'Received RST_STREAM with code 2')],
    ['a server is stopped by force', new RpcError('CANCELLED', 'call cancelled')],
    ['a proxy cuts it off', new RpcError('DEADLINE_EXCEEDED', 'too long')],
    [
      'all places are taken',
      new RpcError('RESOURCE_EXHAUSTED', 'full', { reason: 'TOO_MANY_STREAMS', retryAfterMs: 100 }),
    ],
  ])('of every kind: %s', async (_, error) => {
    const { service, client, clock } = await startClient()
    const loop = client.results()[Symbol.asyncIterator]()
    const next = taskId(loop.next())
    const first = await service.stream(1)
    first.send({ cursor: 'c1' })
    if (error === undefined) first.end()
    else first.fail(error)
    await clock.timer((ms) => ms === 100)
    clock.advance(100)
    ;(await service.stream(2)).send({ results: [resultMessage('a')], cursor: 'c2' })
    expect(await next).toBe('a')
    await loop.return?.()
  })

  it('backs off longer each time, up to 3 s, and for as long as the server is away', async () => {
    const { service, client, clock } = await startClient()
    const loop = client.results()[Symbol.asyncIterator]()
    const next = taskId(loop.next())
    ;(await service.stream(1)).send({ cursor: 'c1' })
    for (const [n, waitMs] of [
      100, 200, 400, 800, 1_600, 3_000, 3_000, 3_000, 3_000, 3_000, 3_000,
    ].entries()) {
      const stream = await service.stream(n + 1)
      stream.fail()
      await clock.timer((ms) => ms === waitMs)
      clock.advance(waitMs)
    }
    ;(await service.stream(12)).send({ results: [resultMessage('a')], cursor: 'c2' })
    expect(await next).toBe('a')
    await loop.return?.()
  })

  it('gives up on a server that answers the same fault every time', async () => {
    const { service, client, clock } = await startClient()
    const next = client.results()[Symbol.asyncIterator]().next()
    ;(await service.stream(1)).send({ cursor: 'c1' })
    for (let n = 1; n <= 10; n++) {
      ;(await service.stream(n)).fail(new RpcError('INTERNAL', 'a bug', { reason: 'INTERNAL' }))
      if (n === 10) break
      await clock.timer((ms) => ms <= 3_000 && ms >= 100)
      clock.advance(3_000)
    }
    await expect(next).rejects.toThrow('a bug')
  })

  it('takes silence of three heartbeats for a break', async () => {
    const { service, client, clock } = await startClient({ heartbeatMs: 1_000 })
    const loop = client.results()[Symbol.asyncIterator]()
    const next = taskId(loop.next())
    const first = await service.stream(1)
    first.send({ cursor: 'c1' })
    await clock.timer((ms) => ms === 3_000)
    // a heartbeat comes: the wait begins anew
    clock.advance(2_000)
    first.send({ cursor: 'c2' })
    await until(() => clock.remaining === 3_000)
    clock.advance(3_000)
    await first.left
    await clock.timer((ms) => ms === 100)
    clock.advance(100)
    const second = await service.stream(2)
    expect(second.request.start).toEqual({ $case: 'afterCursor', value: 'c2' })
    second.send({ results: [resultMessage('a')], cursor: 'c3' })
    expect(await next).toBe('a')
    await loop.return?.()
  })
})

describe('what a loop does not resume after', () => {
  it.each([
    ['a cursor that is no longer kept', 'OUT_OF_RANGE', 'CURSOR_EXPIRED', CursorLostError],
    ['a log that was replaced', 'OUT_OF_RANGE', 'LOG_REPLACED', CursorLostError],
    ['another stream of the same consumer', 'ABORTED', 'CONSUMER_TAKEN_OVER', ConsumerTakenOverError],
    ['a bad filter', 'INVALID_ARGUMENT', 'INVALID_REQUEST', InvalidRequestError],
  ] as const)('%s', async (_, code, reason, expected) => {
    const { service, client } = await startClient()
    const next = client.results()[Symbol.asyncIterator]().next()
    const stream = await service.stream()
    stream.send({ cursor: 'c1' })
    stream.fail(new RpcError(code, 'for good', { reason }))
    await expect(next).rejects.toBeInstanceOf(expected)
    expect(service.streams).toHaveLength(1)
  })

  it('a server that cannot be reached from the start, once the deadline of a call has passed', async () => {
    const { service, client, clock } = await startClient({ deadlineMs: 1_000 })
    const next = client.results()[Symbol.asyncIterator]().next()
    for (const [n, waitMs] of [100, 200, 400].entries()) {
      ;(await service.stream(n + 1)).fail(new RpcError('UNAVAILABLE', 'away'))
      await clock.timer((ms) => ms === waitMs)
      clock.advance(waitMs)
    }
    ;(await service.stream(4)).fail(new RpcError('UNAVAILABLE', 'away'))
    await expect(next).rejects.toBeInstanceOf(UnavailableError)
  })

  it('results that had arrived before the error are handed out first', async () => {
    const { service, client } = await startClient()
    const loop = client.results()[Symbol.asyncIterator]()
    const first = taskId(loop.next())
    const stream = await service.stream()
    for (const id of ['a', 'b', 'c']) stream.send({ results: [resultMessage(id)], cursor: id })
    stream.fail(new RpcError('OUT_OF_RANGE', 'overtaken by retention', { reason: 'CURSOR_EXPIRED' }))
    expect([await first, await taskId(loop.next()), await taskId(loop.next())]).toEqual(['a', 'b', 'c'])
    await expect(loop.next()).rejects.toBeInstanceOf(CursorLostError)
  })
})

describe('leaving the loop', () => {
  it('by break ends the call at the server', async () => {
    const { service, client } = await startClient()
    const left = service.stream().then((stream) => {
      stream.send({ results: [resultMessage('a'), resultMessage('b'), resultMessage('c')], cursor: 'c1' })
      return stream.left
    })
    const seen: string[] = []
    for await (const result of client.results()) {
      seen.push(result.taskId)
      if (result.taskId === 'b') break
    }
    await left
    expect(seen).toEqual(['a', 'b'])
  })

  it('by an error of the body ends the call at the server', async () => {
    const { service, client } = await startClient()
    const left = service.stream().then((stream) => {
      stream.send({ results: [resultMessage('a')], cursor: 'c1' })
      return stream.left
    })
    const loop = async () => {
      for await (const result of client.results()) throw new Error(`bad ${result.taskId}`)
    }
    await expect(loop()).rejects.toThrow('bad a')
    await left
  })

  it('by a signal ends the call at the server, even while the body is busy, and leaves no listener', async () => {
    const { service, client } = await startClient()
    const { controller, signal, listeners } = countedSignal()
    const loop = client.results({ signal })[Symbol.asyncIterator]()
    const first = taskId(loop.next())
    const stream = await service.stream()
    stream.send({ results: [resultMessage('a'), resultMessage('b')], cursor: 'c1' })
    expect(await first).toBe('a')
    controller.abort()
    await stream.left
    await expect(loop.next()).rejects.toMatchObject({ name: 'AbortError' })
    expect(listeners()).toBe(0)
    const again = async () => {
      for await (const _ of client.results({ signal })) expect.unreachable()
    }
    await expect(again()).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('by closing the client', async () => {
    const { service, client } = await startClient()
    const next = client.results()[Symbol.asyncIterator]().next()
    await service.stream()
    await Promise.all([expect(next).rejects.toBeInstanceOf(ClientClosedError), client.close()])
  })
})

describe('the pace of the body', () => {
  it('is that of the stream: a server that is not read cannot send on', async () => {
    const { service, client } = await startClient()
    const loop = client.results()[Symbol.asyncIterator]()
    const first = taskId(loop.next())
    const stream = await service.stream()
    const value = JSON.stringify('x'.repeat(1024 * 1024))
    const large = resultMessage('a', { payload: { $case: 'outputJson', value } })
    let sent = 0
    while (stream.send({ results: [large], cursor: `c${sent}` }) && sent < 200) sent++
    expect(await first).toBe('a')
    // much more would pile up here if nothing held the server back
    expect(sent).toBeLessThan(200)
    await loop.return?.()
    await stream.left
  })
})

describe('batches()', () => {
  it('gives results as they arrive, each with the cursor to keep', async () => {
    const { service, client } = await startClient()
    const results = client.results({ after: 'c0' })
    const batches = results.batches()
    const first = batches.next()
    const stream = await service.stream()
    expect(stream.request.start).toEqual({ $case: 'afterCursor', value: 'c0' })
    stream.send({ cursor: 'c1', caughtUp: true })
    stream.send({ results: [resultMessage('a'), resultMessage('b')], cursor: 'c2' })
    expect((await first).value).toEqual({ results: [], cursor: 'c1', caughtUp: true })
    expect((await batches.next()).value).toMatchObject({ cursor: 'c2', caughtUp: false })
    // not finished with the second yet
    expect(results.cursor).toBe('c1')
    await batches.return()
    await stream.left
  })
})

describe('a durable consumer', () => {
  it('is acknowledged when the body has finished with the results of a message, not before', async () => {
    const { service, client } = await startClient()
    service.answer('ackResults', ({ cursor }) => ({ cursor }))
    const loop = client.results({ consumer: 'billing', lossy: true })[Symbol.asyncIterator]()
    const first = taskId(loop.next())
    const stream = await service.stream()
    expect(stream.request).toMatchObject({ consumer: 'billing', lossy: true })
    stream.send({ results: [resultMessage('a'), resultMessage('b')], cursor: 'c1' })
    await first
    await loop.next()
    expect(service.requests('ackResults')).toEqual([])
    const next = loop.next()
    await service.call('ackResults')
    expect(service.requests('ackResults')).toEqual([{ consumer: 'billing', cursor: 'c1' }])
    stream.send({ results: [resultMessage('c')], cursor: 'c2' })
    expect(await taskId(next)).toBe('c')
    // left in the body: it may not have finished with c
    await loop.return?.()
    expect(service.requests('ackResults')).toHaveLength(1)
  })

  it('is acknowledged before the stream is resumed, so that the server begins where the loop is', async () => {
    const { service, client, clock } = await startClient()
    let away = true
    service.answer('ackResults', ({ cursor }) => {
      if (away) throw new RpcError('UNAVAILABLE', 'draining', { reason: 'DRAINING', retryAfterMs: 50 })
      return { cursor }
    })
    const loop = client.results({ consumer: 'billing' })[Symbol.asyncIterator]()
    const first = taskId(loop.next())
    const stream = await service.stream(1)
    stream.send({ results: [resultMessage('a')], cursor: 'c1' })
    expect(await first).toBe('a')
    stream.fail()
    const next = taskId(loop.next())
    await service.call('ackResults', 1)
    away = false
    await clock.timer((ms) => ms === 50)
    await clock.timer((ms) => ms === 100)
    clock.advance(100)
    const second = await service.stream(2)
    expect(service.requests('ackResults').at(-1)).toEqual({ consumer: 'billing', cursor: 'c1' })
    second.send({ results: [resultMessage('b')], cursor: 'c2' })
    expect(await next).toBe('b')
    await loop.return?.()
  })

  it('that the server has forgotten ends the loop', async () => {
    const { service, client } = await startClient()
    service.answer('ackResults', () => {
      throw new RpcError('NOT_FOUND', 'no consumer billing', { reason: 'CONSUMER_NOT_FOUND' })
    })
    const loop = client.results({ consumer: 'billing' })[Symbol.asyncIterator]()
    const first = taskId(loop.next())
    const stream = await service.stream()
    stream.send({ results: [resultMessage('a')], cursor: 'c1' })
    await first
    const next = loop.next()
    await service.call('ackResults')
    stream.send({ cursor: 'c2' })
    stream.send({ cursor: 'c3' })
    await expect(next).rejects.toThrow('no consumer billing')
  })
})

async function collect<T>(loop: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const each of loop) all.push(each)
  return all
}

const taskId = async (next: Promise<IteratorResult<{ taskId: string }, void>>): Promise<string> => {
  const { done, value } = await next
  return done === true ? 'the end' : value.taskId
}

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise((resolve) => setImmediate(resolve))
}
