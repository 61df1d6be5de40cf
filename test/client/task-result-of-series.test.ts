import { describe, expect, it } from 'vitest'
import { type SchedulerClient, type TaskHandle } from '../../client/index.js'
import { Outcome } from '../../proto/generated/punctual/v1/result.js'
import { Task, TaskState } from '../../proto/generated/punctual/v1/task.js'
import { startClient } from '../support/client-of.js'
import { batchMessage, resultMessage, scheduledMessage, taskMessage } from '../support/messages.js'

describe('result() of a recurring task', () => {
  it('is the next run to end; skipped ones are passed over', async () => {
    const { service, client } = await startScheduling()
    const task = await tick(client)
    const result = task.result()
    const stream = await service.stream()
    const skipped = resultMessage('tick', { run: 1n, outcome: Outcome.SKIPPED, last: false })
    stream.send({ results: [skipped, resultMessage('tick', { run: 2n, last: false })], cursor: 'c2' })
    expect((await result).run).toBe(2)
    const next = task.result()
    stream.send({ results: [resultMessage('tick', { run: 3n, last: false })], cursor: 'c3' })
    expect((await next).run).toBe(3)
  })

  it('is not a run that had ended before it was asked for', async () => {
    const { service, client } = await startScheduling()
    const task = await tick(client)
    const first = task.result()
    const stream = await service.stream()
    const ended = (run: bigint) =>
      stream.send({ results: [resultMessage('tick', { run, last: false })], cursor: 'c' })
    ended(1n)
    expect((await first).run).toBe(1)
    const other = await client.schedule('echo', 1, { id: 'other' })
    const marker = other.result()
    ended(2n)
    stream.send({ results: [resultMessage('other')], cursor: 'c' })
    await marker
    const next = task.result()
    ended(3n)
    expect((await next).run).toBe(3)
  })

  it('or the run that is asked for', async () => {
    const { service, client } = await startScheduling()
    const task = await tick(client)
    const result = task.result({ run: 3 })
    const stream = await service.stream()
    for (const run of [1n, 2n, 3n]) {
      stream.send({ results: [resultMessage('tick', { run, last: false })], cursor: `c${run}` })
    }
    expect((await result).run).toBe(3)
  })

  it('rejects when the series ends before that run', async () => {
    const { service, client } = await startScheduling()
    const task = await tick(client)
    const result = task.result({ run: 9 })
    ;(await service.stream()).send({ results: [resultMessage('tick', { run: 2n })], cursor: 'c2' })
    await expect(result).rejects.toThrow("task 'tick' ended with run 2: run 9 never took place")
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

const tick = (client: SchedulerClient): Promise<TaskHandle> =>
  client.schedule('echo', 1, { id: 'tick', recurrence: { everyMs: 1_000 } })
