import { describe, expect, it } from 'vitest'
import { countedSignal, startClient } from '../support/client-of.js'
import { silence } from '../support/fake-service.js'
import { batchMessage } from '../support/messages.js'
import { failure } from '../support/failure.js'

describe('a signal', () => {
  it('that has been aborted before keeps the call from being sent (C162)', async () => {
    const { service, client } = await startClient()
    const error = await failure(client.schedule('echo', 1, { signal: AbortSignal.abort() }))
    expect(error.name).toBe('AbortError')
    expect(service.seen).toHaveLength(0)
  })

  it('that is aborted during the call ends it, also at the server (C162)', async () => {
    const { service, client } = await startClient()
    const stop = new AbortController()
    service.answer('schedule', silence)
    const task = client.schedule('echo', 1, { signal: stop.signal })
    const call = await service.call('schedule')
    stop.abort()
    expect((await failure(task)).message).toContain('may be stored')
    await call.cancelled
  })

  it('ends a unary call, also at the server', async () => {
    const { service, client } = await startClient()
    const { controller, signal, listeners } = countedSignal()
    service.answer('getTask', silence)
    const answer = client.get('a', { signal })
    const call = await service.call('getTask')
    controller.abort()
    expect((await failure(answer)).name).toBe('AbortError')
    await call.cancelled
    expect(listeners()).toBe(0)
  })

  it('has no listener left after 1,000 calls (C162)', async () => {
    const { service, client } = await startClient()
    const { signal, listeners } = countedSignal()
    service.answer('scheduleBatch', (request) => batchMessage(request))
    await Promise.all(Array.from({ length: 1_000 }, () => client.schedule('echo', 1, { signal })))
    expect(listeners()).toBe(0)
  })
})
