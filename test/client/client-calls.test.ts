import { describe, expect, it } from 'vitest'
import {
  ClientClosedError,
  createClient,
  NotBuiltError,
  PunctualError,
  TaskEndedError,
  TaskNotFoundError,
} from '../../client/index.js'
import { DstMark, GetStatsResponse } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { Task, TaskSpec, TaskState } from '../../proto/generated/punctual/v1/task.js'
import { startClient } from '../support/client-of.js'
import { silence } from '../support/fake-service.js'
import { resultMessage, scheduledMessage, taskMessage } from '../support/messages.js'
import { RpcError } from '../support/rpc-error.js'

describe('list()', () => {
  it('reads page after page, in order, to the empty token', async () => {
    const { service, client } = await startClient()
    service.answer('listTasks', ({ pageToken }) => {
      const page = pageToken === '' ? 0 : Number(pageToken)
      const ids = Array.from({ length: 1_000 }, (_, index) => page * 1_000 + index).filter((n) => n < 2_345)
      const tasks = ids.map((id) => taskMessage({ spec: TaskSpec.create({ id: `${id}` }) }))
      return { tasks, nextPageToken: page < 2 ? `${page + 1}` : '' }
    })
    const ids: string[] = []
    for await (const { id } of client.list({ states: ['scheduled'], pageSize: 1_000 })) ids.push(id)
    expect(ids).toEqual(Array.from({ length: 2_345 }, (_, index) => `${index}`))
    expect(service.requests('listTasks')[0]).toMatchObject({
      filter: { states: [TaskState.SCHEDULED] },
      pageSize: 1_000,
    })
  })

  it('stops with an error when the server repeats a token (C165)', async () => {
    const { service, client } = await startClient()
    let pages = 0
    service.answer('listTasks', () => ({ tasks: [], nextPageToken: ['a', 'b'][pages++ % 2] ?? '' }))
    const read = async () => {
      for await (const _ of client.list()) expect.unreachable()
    }
    await expect(read()).rejects.toThrow("the page token 'a' twice")
    expect(pages).toBe(3)
  })
})

describe('calls', () => {
  it('give tasks as plain data that JSON takes whole (C131)', async () => {
    const { service, client } = await startClient()
    const at = { seconds: 1_893_456_000n, nanos: 0 }
    const task = Task.create({
      state: TaskState.SCHEDULED,
      run: 3n,
      attempts: 1,
      dueTime: at,
      nextDueTime: { seconds: 1_893_456_001n, nanos: 500_000_000 },
      createTime: at,
      blockedReason: 2,
    })
    task.spec = TaskSpec.create({ id: 'a', handler: 'echo', labels: { team: 'x' }, priority: -3 })
    task.spec.payload = { $case: 'inputJson', value: '{"n":1}' }
    task.spec.retry = {
      maxAttempts: 5,
      initialBackoff: { seconds: 2n, nanos: 0 },
      backoffMultiplier: undefined,
      maxBackoff: undefined,
      jitterRatio: 0,
      nonRetryableCodes: [],
    }
    task.spec.attemptTimeout = { seconds: 0n, nanos: 0 }
    service.answer('getTask', () => ({ task, result: resultMessage('a', { run: 2n, last: false }) }))
    const found = await client.get('a')
    expect(found.task).toEqual({
      id: 'a',
      handler: 'echo',
      input: { n: 1 },
      state: 'scheduled',
      run: 3,
      attempts: 1,
      interruptedAttempts: 0,
      dueTime: new Date('2030-01-01T00:00:00Z'),
      nextDueTime: new Date('2030-01-01T00:00:01.500Z'),
      createTime: new Date('2030-01-01T00:00:00Z'),
      paused: false,
      cancelRequested: false,
      replacementWaits: false,
      blockedReason: 'concurrencyKey',
      retry: { maxAttempts: 5, initialBackoffMs: 2_000, jitterRatio: 0 },
      attemptTimeoutMs: 0,
      priority: -3,
      concurrencyKey: '',
      atMostOnce: false,
      labels: { team: 'x' },
      origin: '',
      traceparent: '',
    })
    expect(found.result).toMatchObject({ run: 2 })
    expect(() => JSON.stringify(found)).not.toThrow()
  })

  it('preview, handlers, stats and serverInfo give plain data', async () => {
    const { service, client } = await startClient()
    service.answer('previewRecurrence', () => ({
      dueTimes: [
        {
          dueTime: { seconds: 1_805_009_400n, nanos: 0 },
          localTime: '2027-03-14T03:30:00-04:00',
          mark: DstMark.SHIFTED,
        },
      ],
    }))
    expect(await client.preview({ cron: '30 2 * * *', timeZone: 'America/New_York' }, { count: 1 })).toEqual([
      { dueTime: new Date('2027-03-14T07:30:00Z'), localTime: '2027-03-14T03:30:00-04:00', mark: 'shifted' },
    ])
    service.answer('getStats', () =>
      GetStatsResponse.create({
        states: [{ state: TaskState.RUNNING, count: 3n }],
        outcomes: [{ handler: 'echo', outcome: 1, count: 9n }],
        lanes: [{ lane: 'thread', slots: 2, busy: 1 }],
        startTime: { seconds: 1_893_456_000n, nanos: 0 },
      }),
    )
    const stats = await client.stats()
    expect(stats).toMatchObject({
      states: { running: 3 },
      outcomes: [{ handler: 'echo', outcome: 'succeeded', count: 9 }],
    })
    expect(() => JSON.stringify(stats)).not.toThrow()
    service.answer('getServerInfo', () => ({
      version: '1.0.0',
      serverTime: { seconds: 1_893_456_000n, nanos: 0 },
      limits: { max_input_bytes: 1_048_576n },
      features: ['retry'],
      logId: 'l',
    }))
    expect(await client.serverInfo()).toMatchObject({ limits: { max_input_bytes: 1_048_576 } })
  })

  it('cancel and retry many, by ids or filter', async () => {
    const { service, client } = await startClient()
    const error = { code: 5, reason: 'TASK_NOT_FOUND', message: 'no task b', violations: [] }
    service.answer('cancelBatch', () => ({
      answers: [
        { id: 'a', state: TaskState.CANCELLED, cancelRequested: false, error: undefined },
        { id: 'b', state: TaskState.UNSPECIFIED, cancelRequested: false, error },
      ],
      count: 1n,
    }))
    const report = await client.cancelMany({ ids: ['a', 'b'] })
    expect(report).toMatchObject({ count: 1, tasks: [{ id: 'a', state: 'cancelled' }, { id: 'b' }] })
    expect(report.tasks[1]?.error).toBeInstanceOf(TaskNotFoundError)
    service.answer('retryBatch', () => ({ answers: [], count: 7n }))
    expect((await client.retryMany({ filter: { handlers: ['echo'] } }, { dryRun: true })).count).toBe(7)
    expect(service.requests('retryBatch')[0]).toMatchObject({ ids: [], dryRun: true })
  })

  it('reject with the error of their kind', async () => {
    const { service, client } = await startClient()
    service.answer('cancel', () => {
      throw new RpcError('FAILED_PRECONDITION', 'has ended', {
        reason: 'TASK_ENDED',
        facts: { state: 'succeeded' },
      })
    })
    await expect(client.cancel('a')).rejects.toBeInstanceOf(TaskEndedError)
    await expect(client.stats()).rejects.toBeInstanceOf(NotBuiltError)
    service.answer('getTask', () => {
      throw new RpcError('INTERNAL', 'internal error, in the log as 7f', { reason: 'INTERNAL' })
    })
    const error = await client.get('a').catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(PunctualError)
    expect(error).toMatchObject({ code: 'INTERNAL', reason: 'INTERNAL' })
  })

  it('end with the error of the last try when the deadline leaves no time for another', async () => {
    const { service, client } = await startClient()
    service.answer('getStats', () => {
      throw new RpcError('UNAVAILABLE', 'draining', { reason: 'DRAINING', retryAfterMs: 2_000 })
    })
    await expect(client.stats({ deadlineMs: 2_000 })).rejects.toThrow('draining')
    expect(service.requests('getStats')).toHaveLength(1)
  })

  it('are tried again, except a RunNow that may already have been done', async () => {
    const { service, client, clock } = await startClient()
    let tries = 0
    service.answer('pause', () => {
      if (++tries === 1) throw new RpcError('UNAVAILABLE', 'reset')
      return { task: taskMessage({ paused: true }) }
    })
    const paused = client.pause('a')
    await clock.timer((ms) => ms === 50)
    clock.advance(50)
    expect((await paused).paused).toBe(true)
    service.answer('runNow', () => {
      throw new RpcError('UNAVAILABLE', 'reset')
    })
    await expect(client.runNow('a')).rejects.toThrow('reset')
    expect(service.requests('runNow')).toHaveLength(1)
  })
})

describe('close()', () => {
  it('lets calls that are under way finish, and refuses new ones with a clear error', async () => {
    const { service, client } = await startClient()
    let answer = (): void => {}
    service.answer(
      'schedule',
      (request) =>
        new Promise((resolve) => {
          answer = () => resolve(scheduledMessage(request))
        }),
    )
    const task = client.schedule('echo', 1, { id: 'a' })
    await service.call('schedule')
    const closed = client.close()
    const late = await client.schedule('echo').catch((reason: unknown) => reason)
    expect(late).toBeInstanceOf(ClientClosedError)
    expect(late).toMatchObject({ message: 'the client is closed: make a new one with createClient()' })
    await expect(client.get('a')).rejects.toBeInstanceOf(ClientClosedError)
    await expect(client.wait('a')).rejects.toBeInstanceOf(ClientClosedError)
    expect(() => client.results()[Symbol.asyncIterator]()).toThrow(ClientClosedError)
    answer()
    expect((await task).id).toBe('a')
    await closed
  })

  it('a second time is the same', async () => {
    const { client } = await startClient()
    await Promise.all([client.close(), client.close()])
    await client.close()
    await expect(client.stats()).rejects.toBeInstanceOf(ClientClosedError)
  })

  it('does not wait for an answer that never comes', async () => {
    const { service, client, clock } = await startClient()
    service.answer('schedule', silence)
    const task = client.schedule('echo', 1, { id: 'a' })
    await service.call('schedule')
    const closed = client.close()
    clock.advance(5_000)
    await expect(task).rejects.toThrow(
      "the client was closed before the answer came: the task 'a' may be stored",
    )
    await closed
  })

  it('is done by await using', async () => {
    const { service } = await startClient()
    let kept = undefined as ReturnType<typeof createClient> | undefined
    {
      await using client = createClient({ address: service.address })
      service.answer('listHandlers', () => ({ handlers: [] }))
      expect(await client.handlers()).toEqual([])
      kept = client
    }
    await expect(kept.handlers()).rejects.toBeInstanceOf(ClientClosedError)
  })
})

describe('createClient()', () => {
  it.each([
    [{ address: 'localhost' }, 'address must be host:port'],
    [{ address: 'localhost:1', deadlineMs: Number.NaN }, 'deadlineMs must be more than 0'],
    [{ address: 'localhost:1', heartbeatMs: 5 }, 'heartbeatMs must be 100 to 600000, got 5'],
    [{ address: 'localhost:1', tls: { key: 'k' } }, 'tls.cert and tls.key belong together'],
  ])('refuses %j', (options, message) => {
    expect(() => createClient(options)).toThrow(message)
  })
})
