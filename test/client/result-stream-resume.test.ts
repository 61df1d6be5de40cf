import { describe, expect, it } from 'vitest'
import {
  ConsumerTakenOverError,
  CursorLostError,
  InvalidRequestError,
  UnavailableError,
} from '../../client/index.js'
import { startClient } from '../support/client-of.js'
import { resultMessage } from '../support/messages.js'
import { taskId, until } from '../support/loops.js'
import { RpcError } from '../support/rpc-error.js'

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

  it('gives up at once where waiting does not help: the server has as many consumers as it may keep', async () => {
    const { service, client } = await startClient()
    const next = client.results({ consumer: 'billing' })[Symbol.asyncIterator]().next()
    const full = new RpcError('RESOURCE_EXHAUSTED', 'delete some', { reason: 'TOO_MANY_CONSUMERS' })
    ;(await service.stream(1)).fail(full)
    await expect(next).rejects.toThrow('delete some')
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
