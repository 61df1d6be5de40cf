import { describe, expect, it } from 'vitest'
import { TaskExistsError, TaskRejectedError } from '../../client/index.js'
import { startClient } from '../support/client-of.js'
import { RpcError } from '../support/rpc-error.js'
import { failure } from '../support/failure.js'

describe('a schedule() that is refused', () => {
  it('tells every violation', async () => {
    const { service, client } = await startClient()
    const violations = [
      { field: 'task.priority', description: 'must be -100 to 100, got 500' },
      { field: 'task.input.n', description: 'expected number' },
    ]
    service.answer('schedule', () => {
      throw new RpcError('INVALID_ARGUMENT', 'two fields', { reason: 'INVALID_TASK', violations })
    })
    const error = await failure(client.schedule('echo'))
    expect(error).toBeInstanceOf(TaskRejectedError)
    expect(error).toMatchObject({ violations, reason: 'INVALID_TASK' })
  })

  it('tells of the task that has the id', async () => {
    const { service, client } = await startClient()
    service.answer('schedule', () => {
      throw new RpcError('ALREADY_EXISTS', 'differs in: payload', {
        reason: 'TASK_EXISTS',
        facts: { task_id: 'k' },
      })
    })
    const error = await failure(client.schedule('echo', { a: 2 }, { id: 'k' }))
    expect(error).toBeInstanceOf(TaskExistsError)
    expect(error).toMatchObject({ metadata: { task_id: 'k' } })
  })

  it.each([
    ['NaN', { n: Number.NaN }, 'task.input.n: NaN is not a JSON number'],
    ['an infinity', [1, Infinity], 'task.input[1]: Infinity'],
    ['a bigint', { a: { b: 1n } }, 'task.input.a.b: a bigint'],
    ['a Date', { at: new Date(0) }, 'task.input.at: a Date is not a JSON value: send its toISOString()'],
    ['a Map', new Map(), 'task.input: a Map'],
    ['a function', { f: () => 1 }, 'task.input.f: function'],
    ['a hole', [undefined], 'task.input[0]: undefined'],
  ])('before it is sent, when its input holds %s', async (_, input, message) => {
    const { service, client } = await startClient()
    await expect(client.schedule('echo', input)).rejects.toThrow(message)
    expect(service.seen).toHaveLength(0)
  })

  it('before it is sent, when its input contains itself', async () => {
    const { client } = await startClient()
    const input: { self?: unknown } = {}
    input.self = input
    await expect(client.schedule('echo', input)).rejects.toThrow('nested deeper than 30, or contains itself')
  })

  it('before it is sent, when a text is no text or a label could vanish (C133)', async () => {
    const { client } = await startClient()
    await expect(client.schedule('echo', 1, { labels: { a: '\ud800x' } })).rejects.toThrow('task.labels.a')
    const labels = JSON.parse('{"__proto__": "x"}') as Record<string, string>
    await expect(client.schedule('echo', 1, { labels })).rejects.toThrow('__proto__')
  })

  it.each([
    [{ delayMs: Number.NaN }, 'delayMs must be 0 or more and finite'],
    [{ delayMs: -1 }, 'delayMs must be 0 or more and finite'],
    [{ dueTime: new Date('no') }, 'dueTime is an invalid Date'],
    [{ dueTime: new Date(0), delayMs: 0 }, 'exclude each other'],
    [{ deadlineMs: Number.NaN }, 'deadlineMs must be more than 0 and at most 24 days'],
    [{ deadlineMs: 0 }, 'deadlineMs must be more than 0'],
    [{ deadlineMs: 25 * 86_400_000 }, 'at most 24 days'],
    [{ deadlineMs: Infinity }, 'at most 24 days'],
    [{ priority: 1.5 }, 'priority must be a whole number'],
    [{ recurrence: { everyMs: 5, cron: '* * * * *' } }, 'exactly one of cron, everyMs'],
  ])('before it is sent, when an option is impossible: %j', async (options, message) => {
    const { client } = await startClient()
    await expect(client.schedule('echo', 1, options)).rejects.toThrow(message)
  })
})
