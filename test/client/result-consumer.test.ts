import { describe, expect, it } from 'vitest'
import { startClient } from '../support/client-of.js'
import { resultMessage } from '../support/messages.js'
import { taskId } from '../support/loops.js'
import { RpcError } from '../support/rpc-error.js'

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

  it('reads on while the server cannot be told: the next acknowledgement covers what was not', async () => {
    const { service, client, clock } = await startClient()
    let away = true
    service.answer('ackResults', ({ cursor }) => {
      if (away) throw new RpcError('UNAVAILABLE', 'draining', { reason: 'DRAINING', retryAfterMs: 60_000 })
      return { cursor }
    })
    const loop = client.results({ consumer: 'billing' })[Symbol.asyncIterator]()
    const first = taskId(loop.next())
    const stream = await service.stream()
    stream.send({ results: [resultMessage('a')], cursor: 'c1' })
    expect(await first).toBe('a')
    const second = taskId(loop.next())
    await service.call('ackResults', 1)
    // its deadline leaves no room for another try, and it is given up
    stream.send({ results: [resultMessage('b')], cursor: 'c2' })
    expect(await second).toBe('b')
    away = false
    const third = taskId(loop.next())
    await service.call('ackResults', 2)
    expect(service.requests('ackResults')[1]).toEqual({ consumer: 'billing', cursor: 'c2' })
    stream.send({ results: [resultMessage('c')], cursor: 'c3' })
    expect(await third).toBe('c')
    clock.advance(0)
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
