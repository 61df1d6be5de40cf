import { describe, expect, it } from 'vitest'
import { TaskEndedError, TaskNotFoundError } from '../../client/index.js'
import { Outcome } from '../../proto/generated/punctual/v1/result.js'
import { Recurrence, TaskSpec, TaskState } from '../../proto/generated/punctual/v1/task.js'
import { startClient } from '../support/client-of.js'
import { silence } from '../support/fake-service.js'
import { resultMessage, scheduledMessage, taskMessage } from '../support/messages.js'
import { RpcError } from '../support/rpc-error.js'

describe('the result of a task that was stored before', () => {
  it('is given at once when it has ended', async () => {
    const { service, client } = await startClient()
    service.answer('schedule', (request) => ({ ...scheduledMessage(request), created: false }))
    service.answer('getTask', () => ({
      task: taskMessage({ state: TaskState.SUCCEEDED }),
      result: resultMessage('a'),
    }))
    const task = await client.schedule('echo', 1, { id: 'a' })
    expect(task.created).toBe(false)
    expect((await task.result()).taskId).toBe('a')
  })

  it('is waited for by WaitForResult, as often as it takes', async () => {
    const { service, client } = await startClient()
    let asked = 0
    service.answer('schedule', (request) => ({ ...scheduledMessage(request), created: false }))
    service.answer('getTask', () => ({ task: taskMessage({ run: 4n }), result: resultMessage('a') }))
    service.answer('waitForResult', () => ({
      task: taskMessage(),
      result: ++asked < 3 ? undefined : resultMessage('a', { run: 4n }),
    }))
    const task = await client.schedule('echo', 1, { id: 'a' })
    expect((await task.result()).run).toBe(4)
    expect(service.requests('waitForResult')).toHaveLength(3)
    expect(service.requests('waitForResult')[0]).toMatchObject({
      taskId: 'a',
      run: 4n,
      wait: { seconds: 30n },
    })
    expect(service.streams).toEqual([])
  })

  it('and was just replaced while it runs, is that of the next run', async () => {
    const { service, client } = await startClient()
    service.answer('schedule', (request) => ({ ...scheduledMessage(request), created: false }))
    const running = taskMessage({ state: TaskState.RUNNING, run: 4n, replacementWaits: true })
    service.answer('getTask', () => ({ task: running, result: undefined }))
    service.answer('waitForResult', ({ run }) => ({
      task: running,
      result: resultMessage('a', { run: run ?? 0n }),
    }))
    const task = await client.schedule('echo', 1, { id: 'a', onConflict: 'replace' })
    expect((await task.result()).run).toBe(5)
  })

  it('and recurs is that of the next run that is not skipped', async () => {
    const { service, client } = await startClient()
    const series = taskMessage({ spec: TaskSpec.create({ id: 'a' }) })
    if (series.spec)
      series.spec.recurrence = Recurrence.create({ rule: { $case: 'cron', value: '* * * * *' } })
    service.answer('getTask', () => ({ task: series, result: resultMessage('a', { run: 3n, last: false }) }))
    service.answer('waitForResult', ({ run }) => {
      const outcome = run === undefined ? Outcome.SKIPPED : Outcome.SUCCEEDED
      return { task: series, result: resultMessage('a', { run: run ?? 4n, outcome, last: false }) }
    })
    expect(await client.wait('a')).toMatchObject({ run: 5, outcome: 'succeeded' })
    expect(service.requests('waitForResult').map(({ run }) => run)).toEqual([undefined, 5n])
  })

  it('outlasts a server that is away', async () => {
    const { service, client, clock } = await startClient()
    let asked = 0
    service.answer('getTask', () => ({ task: taskMessage(), result: undefined }))
    service.answer('waitForResult', () => {
      if (++asked === 1) throw new RpcError('UNAVAILABLE', 'draining', { reason: 'DRAINING' })
      return { task: taskMessage(), result: resultMessage('a') }
    })
    const result = client.wait('a')
    await clock.timer((ms) => ms === 100)
    clock.advance(100)
    expect((await result).taskId).toBe('a')
  })

  it('that is not known, or no longer kept, is an error', async () => {
    const { service, client } = await startClient()
    service.answer('getTask', () => {
      throw new RpcError('NOT_FOUND', 'no task a', { reason: 'TASK_NOT_FOUND' })
    })
    await expect(client.wait('a')).rejects.toBeInstanceOf(TaskNotFoundError)
    const ended = taskMessage({ state: TaskState.FAILED })
    service.answer('getTask', () => ({ task: ended, result: undefined }))
    service.answer('waitForResult', () => ({ task: ended, result: undefined }))
    await expect(client.wait('a')).rejects.toBeInstanceOf(TaskEndedError)
  })

  it('is waited for no longer than asked', async () => {
    const { service, client, clock } = await startClient()
    service.answer('getTask', silence)
    const result = client.task('a').result({ timeoutMs: 2_000 })
    const call = await service.call('getTask')
    clock.advance(2_000)
    await expect(result).rejects.toThrow('no result within 2000 ms; the task goes on')
    await call.cancelled
  })
})
