import { describe, expect, it } from 'vitest'
import {
  ClientClosedError,
  DeadlineExceededError,
  type SchedulerClient,
  TaskFailedError,
} from '../../client/index.js'
import { Outcome } from '../../proto/generated/punctual/v1/result.js'
import { Task, TaskState } from '../../proto/generated/punctual/v1/task.js'
import { countedSignal, startClient } from '../support/client-of.js'
import type { FakeService } from '../support/fake-service.js'
import { batchMessage, resultMessage, scheduledMessage, taskMessage } from '../support/messages.js'
import { RpcError } from '../support/rpc-error.js'

describe('result()', () => {
  it('waits on a stream of this client’s results that begins at the task’s cursor', async () => {
    const { service, client } = await startScheduling()
    const task = await client.schedule('echo', 1, { id: 'a' })
    const result = task.result()
    const stream = await service.stream()
    expect(stream.request).toMatchObject({
      filter: { origins: [client.origin] },
      start: { $case: 'afterCursor', value: 'c1' },
    })
    stream.send({ results: [resultMessage('other'), resultMessage('a')], cursor: 'c2' })
    expect(await result).toMatchObject({ outcome: 'succeeded', output: 'output of a', latenessMs: 1.5 })
    // known now, without another question
    expect((await task.result()).output).toBe('output of a')
    expect(service.seen.map(({ name }) => name)).toEqual(['schedule'])
  })

  it('of thousands of tasks shares one stream, and asks nothing else', async () => {
    const { service, client } = await startScheduling()
    const tasks = await Promise.all(Array.from({ length: 2_000 }, () => client.schedule('echo', 1)))
    const results = Promise.all(tasks.map((task) => task.result()))
    const stream = await service.stream()
    stream.send({ results: tasks.map(({ id }) => resultMessage(id)), cursor: 'c2' })
    expect(await results).toHaveLength(2_000)
    expect(service.streams).toHaveLength(1)
    expect(service.seen.map(({ name }) => name)).toEqual(['scheduleBatch'])
  })

  it('of tasks of several batches begins at the earliest of their cursors', async () => {
    const { service, client } = await startClient()
    let batches = 0
    service.answer('schedule', (request) => ({ ...scheduledMessage(request), cursor: `c${++batches}` }))
    const [a, b] = [await client.schedule('echo'), await client.schedule('echo')]
    // asked for in another order than they were stored
    const results = [b.result(), a.result()]
    const stream = await service.stream()
    expect(stream.request.start).toEqual({ $case: 'afterCursor', value: 'c1' })
    stream.send({ results: [resultMessage(a.id), resultMessage(b.id)], cursor: 'c9' })
    await Promise.all(results)
    expect(service.requests('getTask')).toEqual([])
  })

  it('finds a result that came over the stream before it was asked for', async () => {
    const { service, client } = await startScheduling()
    const a = await client.schedule('echo', 1, { id: 'a' })
    const waiting = a.result()
    const stream = await service.stream()
    // b's result overtakes the answer to its schedule()
    service.answer('schedule', (request) => {
      stream.send({ results: [resultMessage('b')], cursor: 'c2' })
      return scheduledMessage(request)
    })
    const b = await client.schedule('echo', 1, { id: 'b' })
    stream.send({ results: [resultMessage('a')], cursor: 'c3' })
    expect((await waiting).taskId).toBe('a')
    expect((await b.result()).taskId).toBe('b')
    expect(service.requests('getTask')).toEqual([])
  })

  it('asks the server for a task that was stored before the stream began', async () => {
    const { service, client } = await startClient()
    let calls = 0
    service.answer('schedule', (request) => ({ ...scheduledMessage(request), cursor: `c${++calls}` }))
    service.answer('getTask', ({ id }) => ({
      task: taskMessage({ state: TaskState.SUCCEEDED }),
      result: resultMessage(id),
    }))
    const early = await client.schedule('echo', 1, { id: 'early' })
    const late = await client.schedule('echo', 1, { id: 'late' })
    const second = late.result()
    const stream = await service.stream()
    expect(stream.request.start).toEqual({ $case: 'afterCursor', value: 'c2' })
    expect((await early.result()).taskId).toBe('early')
    expect(service.requests('getTask')).toMatchObject([{ id: 'early' }])
    stream.send({ results: [resultMessage('late')], cursor: 'c3' })
    await second
  })

  it('survives a break of the stream', async () => {
    const { service, client, clock } = await startScheduling()
    const task = await client.schedule('echo', 1, { id: 'a' })
    const result = task.result()
    const first = await service.stream(1)
    first.send({ cursor: 'c5' })
    first.fail()
    await clock.timer((ms) => ms === 100)
    clock.advance(100)
    const second = await service.stream(2)
    expect(second.request.start).toEqual({ $case: 'afterCursor', value: 'c5' })
    second.send({ results: [resultMessage('a')], cursor: 'c6' })
    expect((await result).taskId).toBe('a')
  })

  it('survives that the place in the log is gone: it reads on from now, and asks for what it may have missed', async () => {
    const { service, client } = await startScheduling()
    const [a, b] = await Promise.all(['a', 'b'].map((id) => client.schedule('echo', 1, { id })))
    service.answer('getTask', ({ id }) =>
      id === 'a'
        ? { task: taskMessage({ state: TaskState.SUCCEEDED }), result: resultMessage('a') }
        : { task: taskMessage(), result: undefined },
    )
    const results = [a?.result(), b?.result()]
    const first = await service.stream(1)
    first.fail(new RpcError('OUT_OF_RANGE', 'gone', { reason: 'CURSOR_EXPIRED' }))
    const second = await service.stream(2)
    expect(second.request.start).toMatchObject({ $case: 'position' })
    expect(service.requests('getTask')).toEqual([])
    second.send({ cursor: 'c9', caughtUp: true })
    expect((await results[0])?.taskId).toBe('a')
    second.send({ results: [resultMessage('b')], cursor: 'c10' })
    expect((await results[1])?.taskId).toBe('b')
  })

  it('leaves the stream a second after the last wait, and not in between', async () => {
    const { service, client, clock } = await startScheduling()
    const stream = await waitedFor(client, service, 'a')
    const b = await client.schedule('echo', 1, { id: 'b' })
    const result = b.result()
    clock.advance(1_000)
    stream.send({ results: [resultMessage('b')], cursor: 'c3' })
    await result
    expect(service.streams).toHaveLength(1)
    await clock.timer((ms) => ms === 1_000)
    clock.advance(1_000)
    await stream.left
    const c = await client.schedule('echo', 1, { id: 'c' })
    const third = c.result()
    ;(await service.stream(2)).send({ results: [resultMessage('c')], cursor: 'c4' })
    expect((await third).taskId).toBe('c')
  })

  it('of a task that another client has replaced comes by asking, since its origin is another', async () => {
    const { service, client } = await startScheduling()
    service.answer('getTask', () => ({
      task: taskMessage({ state: TaskState.SUCCEEDED }),
      result: resultMessage('a', { origin: 'another' }),
    }))
    const task = await client.schedule('echo', 1, { id: 'a' })
    const result = task.result()
    ;(await service.stream()).send({ cursor: 'c2' })
    expect(await result).toMatchObject({ taskId: 'a', origin: 'another' })
  })

  it('rejects with a TaskFailedError that tells how it ended; ended() gives the same as a value', async () => {
    const { service, client } = await startScheduling()
    const task = await client.schedule('echo', 1, { id: 'a' })
    const result = task.result()
    const error = { code: 'GONE', message: 'no such host', stack: '', name: 'Error', cause: '' }
    const failed = resultMessage('a', { outcome: Outcome.FAILED, payload: undefined, error })
    ;(await service.stream()).send({ results: [failed], cursor: 'c2' })
    const thrown = await result.catch((reason: unknown) => reason)
    expect(thrown).toBeInstanceOf(TaskFailedError)
    expect(thrown).toMatchObject({
      message: "task 'a' (echo), run 1: failed with GONE: no such host",
      result: { outcome: 'failed', error },
    })
    expect(await task.ended()).toMatchObject({ outcome: 'failed' })
  })

  it('ends by its signal or its time-out, without a trace', async () => {
    const { service, client, clock } = await startScheduling()
    const { controller, signal, listeners } = countedSignal()
    const task = await client.schedule('echo')
    const [aborted, late] = [task.result({ signal }), task.result({ timeoutMs: 500 })]
    const stream = await service.stream()
    controller.abort()
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
    clock.advance(500)
    await expect(late).rejects.toBeInstanceOf(DeadlineExceededError)
    expect(listeners()).toBe(0)
    await clock.timer((ms) => ms === 1_000)
    clock.advance(1_000)
    await stream.left
  })

  it('rejects when the client is closed', async () => {
    const { service, client } = await startScheduling()
    const task = await client.schedule('echo')
    const result = task.result()
    await service.stream()
    await Promise.all([expect(result).rejects.toBeInstanceOf(ClientClosedError), client.close()])
  })
})

describe('a handle', () => {
  it('cancels, tells the state, and prints as plain data', async () => {
    const { service, client } = await startScheduling()
    service.answer('getTask', () => ({ task: taskMessage({ state: TaskState.RUNNING }), result: undefined }))
    service.answer('cancel', () => ({
      task: taskMessage({ state: TaskState.RUNNING, cancelRequested: true }),
    }))
    const task = await client.schedule('echo', 1, { id: 'a' })
    expect(await task.state()).toBe('running')
    expect(await task.cancel({ graceMs: 0 })).toMatchObject({ state: 'running', cancelRequested: true })
    expect(service.requests('cancel')).toEqual([{ id: 'a', grace: { seconds: 0n, nanos: 0 } }])
    const due = '2030-01-01T00:00:00.000Z'
    expect(JSON.parse(JSON.stringify(task))).toEqual({
      id: 'a',
      handler: 'echo',
      created: true,
      dueTime: due,
    })
  })
})

async function startScheduling() {
  const parts = await startClient()
  parts.service.answer('schedule', scheduledMessage)
  parts.service.answer('scheduleBatch', (request) => batchMessage(request))
  parts.service.answer('getTask', () => ({
    task: Task.create({ state: TaskState.SCHEDULED }),
    result: undefined,
  }))
  parts.service.answer('waitForResult', () => ({ task: taskMessage(), result: undefined }))
  return parts
}

/** The shared stream, opened for one task whose result has come. */
async function waitedFor(client: SchedulerClient, service: FakeService, id: string) {
  const task = await client.schedule('echo', 1, { id })
  const result = task.result()
  const stream = await service.stream()
  stream.send({ results: [resultMessage(id)], cursor: 'c2' })
  await result
  return stream
}
