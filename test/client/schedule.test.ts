import { validate, version } from 'uuid'
import { describe, expect, it } from 'vitest'
import {
  DeadlineExceededError,
  InvalidRequestError,
  TaskRejectedError,
  UnavailableError,
} from '../../client/index.js'
import { OnConflict } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { startClient } from '../support/client-of.js'
import { silence } from '../support/fake-service.js'
import { batchMessage, scheduledMessage } from '../support/messages.js'
import { RpcError } from '../support/rpc-error.js'
import { failure } from '../support/failure.js'

describe('schedule()', () => {
  it('sends one task as Schedule, with its input as JSON text and the origin of the client', async () => {
    const { service, client } = await startClient()
    service.answer('schedule', scheduledMessage)
    const task = await client.schedule('echo', { n: 30 }, { labels: { team: 'a' }, priority: 5 })
    const [request] = service.requests('schedule')
    expect(request?.task).toMatchObject({
      handler: 'echo',
      payload: { $case: 'inputJson', value: '{"n":30}' },
      labels: { team: 'a' },
      priority: 5,
      origin: client.origin,
    })
    expect(task).toMatchObject({ id: request?.task?.id, handler: 'echo', created: true })
    expect(task.dueTime).toEqual(new Date('2030-01-01T00:00:00Z'))
  })

  it('makes an id of its own for each call: equal calls are two tasks (C099)', async () => {
    const { service, client } = await startClient({ coalesce: false })
    service.answer('schedule', scheduledMessage)
    const [a, b] = await Promise.all([client.schedule('echo', { a: 1 }), client.schedule('echo', { a: 1 })])
    expect(a.id).not.toBe(b.id)
    expect([a.id, b.id].every((id) => validate(id) && version(id) === 7)).toBe(true)
  })

  it('lets the server forget an id that it made after 10 minutes, and one of the caller after the default', async () => {
    const { service, client } = await startClient()
    service.answer('schedule', scheduledMessage)
    await client.schedule('echo')
    await client.schedule('echo', undefined, { id: 'mine' })
    const [own, given] = service.requests('schedule')
    expect(own?.task?.rememberIdFor).toEqual({ seconds: 600n, nanos: 0 })
    expect(given?.task).toMatchObject({ id: 'mine', rememberIdFor: undefined, payload: undefined })
  })

  it('sends every option', async () => {
    const { service, client } = await startClient()
    service.answer('schedule', scheduledMessage)
    await client.schedule('report', new Uint8Array([1, 2]), {
      dueTime: new Date('1969-12-31T23:59:59.250Z'),
      recurrence: {
        cron: '0 2 * * *',
        timeZone: 'Europe/Berlin',
        maxRuns: 3,
        missed: 'skip',
        jitterMs: 1_500,
      },
      retry: { maxAttempts: 5, jitterRatio: 0, nonRetryableCodes: ['GONE'] },
      attemptTimeoutMs: 0,
      startWithinMs: 250,
      concurrencyKey: 'k',
      onConflict: 'replace',
    })
    const [request] = service.requests('schedule')
    expect(request?.onConflict).toBe(OnConflict.REPLACE)
    expect(request?.requestId).toMatch(/^[0-9a-f-]{36}$/)
    expect(request?.task).toMatchObject({
      payload: { $case: 'inputBytes', value: Buffer.from([1, 2]) },
      when: { $case: 'dueTime', value: { seconds: -1n, nanos: 250_000_000 } },
      recurrence: {
        rule: { $case: 'cron', value: '0 2 * * *' },
        timeZone: 'Europe/Berlin',
        maxRuns: 3n,
        jitter: { seconds: 1n, nanos: 500_000_000 },
      },
      retry: { maxAttempts: 5, jitterRatio: 0, backoffMultiplier: undefined, nonRetryableCodes: ['GONE'] },
      attemptTimeout: { seconds: 0n, nanos: 0 },
      startWithin: { seconds: 0n, nanos: 250_000_000 },
      concurrencyKey: 'k',
    })
  })
})

describe('without an OpenTelemetry SDK', () => {
  it('a task and its call carry no trace', async () => {
    const { service, client } = await startClient()
    service.answer('schedule', scheduledMessage)
    await client.schedule('echo')
    expect(service.seen[0]?.metadata.get('traceparent')).toEqual([])
    expect(service.requests('schedule')[0]?.task).toMatchObject({ traceparent: '', tracestate: '' })
  })
})

describe('a schedule() that fails for now', () => {
  it('is tried again with the same id, and counts as created although the first try had stored it', async () => {
    const { service, client, clock } = await startClient()
    let tries = 0
    service.answer('schedule', (request) => {
      if (++tries === 1) throw new RpcError('UNAVAILABLE', 'the answer was lost')
      return { ...scheduledMessage(request), created: false }
    })
    const task = client.schedule('echo')
    await clock.timer((ms) => ms === 50)
    clock.advance(50)
    expect((await task).created).toBe(true)
    const ids = service.requests('schedule').map((request) => request.task?.id)
    expect(new Set(ids).size).toBe(1)
  })

  it('waits as long as RetryInfo says', async () => {
    const { service, client, clock } = await startClient()
    let tries = 0
    service.answer('schedule', (request) => {
      if (++tries > 1) return scheduledMessage(request)
      throw new RpcError('RESOURCE_EXHAUSTED', 'full', { reason: 'TOO_MANY_TASKS', retryAfterMs: 2_500 })
    })
    const task = client.schedule('echo')
    await clock.timer((ms) => ms === 2_500)
    clock.advance(2_499)
    expect(tries).toBe(1)
    clock.advance(1)
    expect((await task).created).toBe(true)
  })

  it('ends with the error of the last try when its deadline leaves no time', async () => {
    const { service, client } = await startClient({ deadlineMs: 1_000 })
    service.answer('schedule', () => {
      throw new RpcError('UNAVAILABLE', 'draining', { reason: 'DRAINING', retryAfterMs: 1_000 })
    })
    const error = await failure(client.schedule('echo'))
    expect(error).toBeInstanceOf(UnavailableError)
    expect(error).toMatchObject({ code: 'UNAVAILABLE', reason: 'DRAINING', message: 'draining' })
  })

  it('is not tried again when the message itself is too large, or when told not to', async () => {
    const large = await startClient()
    large.service.answer('schedule', () => {
      throw new RpcError('RESOURCE_EXHAUSTED', 'Received message larger than max')
    })
    expect(await failure(large.client.schedule('echo'))).toMatchObject({ code: 'RESOURCE_EXHAUSTED' })
    const once = await startClient({ retry: false })
    once.service.answer('schedule', () => {
      throw new RpcError('UNAVAILABLE', 'away')
    })
    expect(await failure(once.client.schedule('echo'))).toBeInstanceOf(UnavailableError)
    expect(once.service.seen).toHaveLength(1)
  })
})

describe('a deadline', () => {
  it('ends a call that the server does not answer', async () => {
    const { service, client, clock } = await startClient({ deadlineMs: 700 })
    service.answer('schedule', silence)
    const task = client.schedule('echo')
    await service.call('schedule')
    clock.advance(700)
    const error = await failure(task)
    expect(error).toBeInstanceOf(DeadlineExceededError)
    expect(error.message).toContain('may be stored')
  })

  it('is sent along with every call', async () => {
    const { service, client } = await startClient({ deadlineMs: 60_000 })
    service.answer('listHandlers', () => ({ handlers: [] }))
    await client.handlers()
    const [call] = service.seen
    expect(call?.deadline).toBeGreaterThan(0)
    expect(call?.deadline).toBeLessThanOrEqual(60_000)
  })
})

describe('scheduleMany()', () => {
  it('answers for each task in order, handle or error', async () => {
    const { service, client } = await startClient({ coalesce: false })
    const violations = [{ field: 'task.input.n', description: 'must be a number' }]
    const error = { code: 3, reason: 'INVALID_TASK', message: '', violations }
    service.answer('scheduleBatch', (request) =>
      batchMessage(request, (index) => (index === 1 ? { created: false, error } : {})),
    )
    const [first, second, third, fourth] = await client.scheduleMany([
      { handler: 'echo', input: 1, id: 'a' },
      { handler: 'echo', input: 2, id: 'b' },
      { handler: 'echo', input: 3, id: 'c' },
      { handler: 'echo', input: Number.NaN },
    ])
    expect(first).toMatchObject({ id: 'a', created: true })
    expect(second).toBeInstanceOf(TaskRejectedError)
    expect((second as Error).message).toBe('task.input.n: must be a number')
    expect(third).toMatchObject({ id: 'c' })
    expect(fourth).toBeInstanceOf(InvalidRequestError)
    expect(service.requests('scheduleBatch')).toHaveLength(1)
  })
})
