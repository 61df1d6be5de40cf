import { describe, expect, it } from 'vitest'
import { OnConflict, ScheduleRequest } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { type TaskSpec, TaskState } from '../../proto/generated/punctual/v1/task.js'
import { aTask } from './requests.js'
import { failureOf, rpc, TestServer } from './test-server.js'

const LATER = { $case: 'delay' as const, value: { seconds: 60n, nanos: 0 } }

function request(task: Partial<TaskSpec>, rest: Partial<ScheduleRequest> = {}): ScheduleRequest {
  return { ...ScheduleRequest.create(), task: aTask({ handler: 'echo', when: LATER, ...task }), ...rest }
}

describe('ScheduleBatch', () => {
  it('answers one for each, in order; a bad one spoils no other', async () => {
    const test = await TestServer.start()
    const { answers } = await test.call(rpc.scheduleBatch, {
      requests: [
        request({ id: 'a' }),
        request({ id: 'b', handler: 'nothing-like-it' }),
        ScheduleRequest.create(),
        request({ id: 'c d', priority: 1_000 }),
        request({ id: 'e' }),
      ],
    })
    expect(answers.map(({ id, created, error }) => [id, created, error?.reason])).toEqual([
      ['a', true, undefined],
      ['b', false, 'UNKNOWN_HANDLER'],
      ['', false, 'INVALID_TASK'],
      ['c d', false, 'INVALID_TASK'],
      ['e', true, undefined],
    ])
    expect(answers[0]).toMatchObject({ state: TaskState.SCHEDULED, cursor: '' })
    expect((await test.call(rpc.listTasks)).tasks.map((task) => task.spec?.id)).toEqual(['a', 'e'])
  })

  it('takes the same id twice as two calls in order', async () => {
    const test = await TestServer.start()
    const replace = { onConflict: OnConflict.REPLACE }
    const { answers } = await test.call(rpc.scheduleBatch, {
      requests: [
        request({ id: 'k', priority: 1 }),
        request({ id: 'k', priority: 1 }),
        request({ id: 'k', priority: 2 }),
        request({ id: 'k', priority: 2 }, replace),
        request({ id: 'k', priority: 2 }),
        request({ id: 'k', priority: 1 }),
        request({ id: 'k', priority: 3 }, { onConflict: OnConflict.KEEP }),
      ],
    })
    expect(answers.map(({ created, error }) => error?.reason ?? created)).toEqual([
      true,
      false,
      'TASK_EXISTS',
      false,
      false,
      'TASK_EXISTS',
      false,
    ])
    expect((await test.call(rpc.getTask, { id: 'k' })).task?.spec?.priority).toBe(2)
  })

  it('takes 10,000 tasks, and names the limit beyond that (C113)', async () => {
    const test = await TestServer.start()
    const many = (count: number) => ({ requests: Array.from({ length: count }, () => request({})) })
    const { answers } = await test.call(rpc.scheduleBatch, many(10_000))
    expect(answers.filter(({ created }) => created)).toHaveLength(10_000)
    const failure = await failureOf(test.call(rpc.scheduleBatch, many(10_001)))
    expect(failure).toMatchObject({
      code: 'INVALID_ARGUMENT',
      reason: 'INVALID_REQUEST',
      fields: ['requests'],
    })
    expect((await failureOf(test.call(rpc.scheduleBatch))).fields).toEqual(['requests'])
  })

  it('answers 10,000 refusals in less than a message holds', async () => {
    const test = await TestServer.start()
    const long = 'x'.repeat(150)
    const requests = Array.from({ length: 10_000 }, () =>
      request({ id: `${long} `, handler: long, labels: { '': '' } }),
    )
    const bytes = rpc.scheduleBatch.requestSerialize({ requests })
    const answer = await test.callRaw(rpc.scheduleBatch.path, bytes)
    expect(answer.length).toBeLessThan(4 * 1024 * 1024)
  })

  it('gives a cursor before the first of its results, and a known task its own', async () => {
    const test = await TestServer.start()
    await test.call(rpc.schedule, { task: aTask({ id: 'old', handler: 'echo' }) })
    await test.clock.advance(0)
    const known = request({ id: 'old', when: undefined })
    const { cursor, answers } = await test.call(rpc.scheduleBatch, {
      requests: [request({ id: 'new' }), known],
    })
    const start = (from: string) => ({ start: { $case: 'afterCursor' as const, value: from } })
    await test.clock.advance(60_000)
    expect(await test.stream({ ...start(cursor), stopWhenCaughtUp: true }).idsUntilEnd()).toEqual(['new'])
    expect(answers[1]?.created).toBe(false)
    const own = answers[1]?.cursor === '' ? cursor : (answers[1]?.cursor ?? '')
    expect(await test.stream({ ...start(own), stopWhenCaughtUp: true }).idsUntilEnd()).toContain('old')
  })

  it('refuses more than may wait, as a whole or in part never silently', async () => {
    const test = await TestServer.start({ flags: { maxWaitingTasks: '3' } })
    await test.call(rpc.scheduleBatch, { requests: [request({ id: 'a' }), request({ id: 'b' })] })
    const { answers } = await test.call(rpc.scheduleBatch, {
      requests: [request({ id: 'c' }), request({ id: 'd' })],
    })
    expect(answers.map(({ error }) => error?.reason)).toEqual(['TOO_MANY_TASKS', 'TOO_MANY_TASKS'])
    expect((await test.call(rpc.schedule, request({ id: 'c' }))).created).toBe(true)
    const failure = await failureOf(test.call(rpc.schedule, request({ id: 'd' })))
    expect(failure).toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      reason: 'TOO_MANY_TASKS',
      facts: { limit: '3' },
    })
    await test.call(rpc.cancel, { id: 'a' })
    expect((await test.call(rpc.schedule, request({ id: 'd' }))).created).toBe(true)
  })
})

describe('CancelBatch and RetryBatch', () => {
  it('answer one for each id, in order', async () => {
    const test = await TestServer.start()
    await test.call(rpc.scheduleBatch, {
      requests: [request({ id: 'a' }), request({ id: 'b', when: undefined })],
    })
    await test.clock.advance(0)
    const { answers, count } = await test.call(rpc.cancelBatch, { ids: ['a', 'b', 'unknown', '', 'a'] })
    expect(answers.map(({ state, error }) => error?.reason ?? state)).toEqual([
      TaskState.CANCELLED,
      'TASK_ENDED',
      'TASK_NOT_FOUND',
      'TASK_NOT_FOUND',
      TaskState.CANCELLED,
    ])
    expect(count).toBe(2n)
  })

  it('cancel what a filter names, and count it first when asked to', async () => {
    const test = await TestServer.start()
    const requests = ['a', 'b', 'c'].map((id) => request({ id, labels: { team: id === 'c' ? 'y' : 'x' } }))
    await test.call(rpc.scheduleBatch, { requests })
    const filter = {
      states: [],
      handlers: [],
      labels: { team: 'x' },
      dueFrom: undefined,
      dueBefore: undefined,
    }
    expect(await test.call(rpc.cancelBatch, { filter, dryRun: true })).toEqual({ answers: [], count: 2n })
    expect((await test.call(rpc.cancelBatch, { filter })).answers.map(({ id }) => id)).toEqual(['a', 'b'])
    expect((await test.call(rpc.cancelBatch, { filter })).count).toBe(0n)
    expect((await test.call(rpc.getTask, { id: 'c' })).task?.state).toBe(TaskState.SCHEDULED)
  })

  it('run what has failed once more', async () => {
    let fails = true
    const test = await TestServer.start({
      run: ({ payload }) => {
        if (fails) throw new Error('the other service is down')
        return { kind: 'succeeded', output: payload }
      },
    })
    await test.call(rpc.schedule, request({ id: 'a', when: undefined }))
    await test.clock.advance(0)
    expect((await test.call(rpc.getTask, { id: 'a' })).task?.state).toBe(TaskState.FAILED)
    fails = false
    const filter = { states: [], handlers: [], labels: {}, dueFrom: undefined, dueBefore: undefined }
    expect((await test.call(rpc.retryBatch, { filter, dryRun: true })).count).toBe(1n)
    expect((await test.call(rpc.retryBatch, { filter })).answers).toMatchObject([
      { id: 'a', error: undefined },
    ])
    await test.clock.advance(0)
    const { task, result } = await test.call(rpc.getTask, { id: 'a' })
    expect(task).toMatchObject({ state: TaskState.SUCCEEDED, run: 2n })
    expect(result?.run).toBe(2n)
  })

  it('want ids or a filter, and states in which the change can be done', async () => {
    const test = await TestServer.start()
    const filter = {
      states: [TaskState.FAILED],
      handlers: [],
      labels: {},
      dueFrom: undefined,
      dueBefore: undefined,
    }
    expect((await failureOf(test.call(rpc.cancelBatch))).fields).toEqual(['ids'])
    expect((await failureOf(test.call(rpc.cancelBatch, { ids: ['a'], filter }))).fields).toEqual(['ids'])
    expect((await failureOf(test.call(rpc.cancelBatch, { filter }))).fields).toEqual(['filter.states'])
  })
})
