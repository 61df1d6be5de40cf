import { describe, expect, it } from 'vitest'
import {
  ScheduleRequest,
  type TaskFilter,
  TaskView,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { type Task, type TaskSpec, TaskState } from '../../proto/generated/punctual/v1/task.js'
import { aTask } from './requests.js'
import { failureOf, rpc, TestServer } from './test-server.js'

const seconds = (value: number) => ({ seconds: BigInt(value), nanos: 0 })
const after = (delay: number) => ({ $case: 'delay' as const, value: seconds(delay) })
const NO_FILTER: TaskFilter = {
  states: [],
  handlers: [],
  labels: {},
  dueFrom: undefined,
  dueBefore: undefined,
}

async function scheduleAll(test: TestServer, tasks: Partial<TaskSpec>[]): Promise<void> {
  const requests = tasks.map((task) => ({
    ...ScheduleRequest.create(),
    task: aTask({ handler: 'echo', ...task }),
  }))
  await test.call(rpc.scheduleBatch, { requests })
}
const many = (count: number, prefix = 't', rest: Partial<TaskSpec> = {}): Partial<TaskSpec>[] =>
  Array.from({ length: count }, (_, i) => ({ id: `${prefix}${i}`, when: after(60), ...rest }))

describe('Cancel', () => {
  it('of a waiting task is final, and the same when it is repeated', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, [{ id: 'a', when: after(60) }])
    const first = await test.call(rpc.cancel, { id: 'a' })
    expect(first.task).toMatchObject({ state: TaskState.CANCELLED, cancelRequested: false })
    expect(await test.call(rpc.cancel, { id: 'a' })).toEqual(first)
    await test.clock.advance(120_000)
    const stream = test.stream({ start: { $case: 'position', value: 1 }, stopWhenCaughtUp: true })
    expect(await stream.idsUntilEnd()).toEqual(['a'])
  })

  it('of a running task tells it to stop, and says so', async () => {
    const test = await TestServer.start({
      run: async (_, { sleep }) => {
        await sleep(60_000)
        return { kind: 'succeeded', output: { kind: 'none' } }
      },
    })
    await scheduleAll(test, [{ id: 'a' }])
    await test.clock.advance(0)
    const { task } = await test.call(rpc.cancel, { id: 'a' })
    expect(task).toMatchObject({ state: TaskState.RUNNING, cancelRequested: true })
    await test.clock.advance(2_000)
    expect((await test.call(rpc.getTask, { id: 'a' })).task?.state).toBe(TaskState.CANCELLED)
  })

  it('of what has ended, of what nobody knows, and of no id, each says what it is (C061)', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, [{ id: 'done' }])
    await test.clock.advance(0)
    expect(await failureOf(test.call(rpc.cancel, { id: 'done' }))).toMatchObject({
      code: 'FAILED_PRECONDITION',
      reason: 'TASK_ENDED',
      facts: { state: 'succeeded' },
    })
    expect(await failureOf(test.call(rpc.cancel, { id: 'unknown' }))).toMatchObject({
      code: 'NOT_FOUND',
      reason: 'TASK_NOT_FOUND',
      facts: { task_id: 'unknown' },
    })
    expect(await failureOf(test.call(rpc.cancel))).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['id'] })
    expect((await test.call(rpc.getTask, { id: 'done' })).task?.state).toBe(TaskState.SUCCEEDED)
  })

  it('takes a grace from 0 to an hour', async () => {
    const test = await TestServer.start()
    for (const grace of [seconds(-1), seconds(3_601)]) {
      expect((await failureOf(test.call(rpc.cancel, { id: 'a', grace }))).fields).toEqual(['grace'])
    }
  })
})

describe('ListTasks', () => {
  async function pages(test: TestServer, pageSize: number, between = async () => {}): Promise<string[][]> {
    const all: string[][] = []
    let pageToken = ''
    do {
      const page = await test.call(rpc.listTasks, { pageSize, pageToken })
      all.push(page.tasks.map(idOf))
      pageToken = page.nextPageToken
      await between()
    } while (pageToken !== '')
    return all
  }
  const idOf = (task: Task): string => task.spec?.id ?? ''

  it('gives every task once, page by page, also those due in the same millisecond (C115)', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, many(25))
    const found = await pages(test, 10)
    expect(found.map((page) => page.length)).toEqual([10, 10, 5])
    expect(new Set(found.flat()).size).toBe(25)
  })

  it('ends without an empty page when the last one is full (C115)', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, many(20))
    expect((await pages(test, 10)).map((page) => page.length)).toEqual([10, 10])
  })

  it('loses and doubles none while others come (C115)', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, many(25))
    let round = 0
    const found = await pages(test, 10, () => scheduleAll(test, many(100, `new${round++}-`)))
    const old = found.flat().filter((id) => id.startsWith('t'))
    expect(new Set(old).size).toBe(25)
    expect(found.flat()).toHaveLength(new Set(found.flat()).size)
  })

  it('filters by state, handler, label and due time', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, [
      { id: 'a', labels: { team: 'x', kind: '1' } },
      { id: 'b', labels: { team: 'x' }, when: after(60) },
      { id: 'c', handler: 'fibonacci', payload: { $case: 'input', value: { n: 1 } }, when: after(120) },
    ])
    await test.clock.advance(0)
    const now = test.clock.now() / 1_000
    const ids = async (filter: Partial<TaskFilter>): Promise<string[]> =>
      (await test.call(rpc.listTasks, { filter: { ...NO_FILTER, ...filter } })).tasks.map(idOf)
    expect(await ids({})).toEqual(['a', 'b', 'c'])
    expect(await ids({ states: [TaskState.SUCCEEDED, TaskState.FAILED] })).toEqual(['a'])
    expect(await ids({ handlers: ['fibonacci'] })).toEqual(['c'])
    expect(await ids({ labels: { team: 'x' } })).toEqual(['a', 'b'])
    expect(await ids({ labels: { team: 'x', kind: '1' } })).toEqual(['a'])
    expect(await ids({ dueFrom: seconds(now + 60) })).toEqual(['b', 'c'])
    expect(await ids({ dueFrom: seconds(now + 1), dueBefore: seconds(now + 120) })).toEqual(['b'])
  })

  it('leaves payloads out unless asked for them', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, [{ id: 'a', payload: { $case: 'input', value: 'x' }, when: after(60) }])
    expect((await test.call(rpc.listTasks)).tasks[0]?.spec?.payload).toBeUndefined()
    const full = await test.call(rpc.listTasks, { view: TaskView.FULL })
    expect(full.tasks[0]?.spec?.payload).toEqual({ $case: 'input', value: 'x' })
  })

  it('stops a page at about 1 MiB, and loses nothing by it', async () => {
    const test = await TestServer.start()
    const text = 'x'.repeat(300_000)
    await scheduleAll(test, many(8, 't', { payload: { $case: 'input', value: text } }))
    const sizes: number[] = []
    let pageToken = ''
    do {
      const page = await test.call(rpc.listTasks, { view: TaskView.FULL, pageToken })
      sizes.push(page.tasks.length)
      pageToken = page.nextPageToken
    } while (pageToken !== '')
    expect(sizes).toEqual([3, 3, 2])
  })

  it('keeps text with a NUL as it is, in answers and filters (C133)', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, [{ id: 'a', labels: { key: 'a\u0000b' }, when: after(60) }])
    expect((await test.call(rpc.getTask, { id: 'a' })).task?.spec?.labels).toEqual({ key: 'a\u0000b' })
    const filtered = async (key: string) =>
      test.call(rpc.listTasks, { filter: { ...NO_FILTER, labels: { key } } })
    expect((await filtered('a\u0000b')).tasks).toHaveLength(1)
    expect((await filtered('a')).tasks).toHaveLength(0)
  })

  it('refuses a token that is none, and one of another filter', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, many(3))
    const { nextPageToken } = await test.call(rpc.listTasks, { pageSize: 1 })
    for (const [pageToken, filter] of [
      ['garbage', NO_FILTER],
      [nextPageToken, { ...NO_FILTER, handlers: ['echo'] }],
    ] as [string, TaskFilter][]) {
      const failure = await failureOf(test.call(rpc.listTasks, { pageToken, filter }))
      expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['page_token'] })
    }
    expect((await failureOf(test.call(rpc.listTasks, { pageSize: 1_001 }))).fields).toEqual(['page_size'])
  })
})

describe('WaitForResult', () => {
  it('answers at once when there is a result', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, [{ id: 'a', payload: { $case: 'inputJson', value: '7' } }])
    await test.clock.advance(0)
    const { task, result } = await test.call(rpc.waitForResult, { taskId: 'a' })
    expect(task?.state).toBe(TaskState.SUCCEEDED)
    expect(result?.payload).toEqual({ $case: 'output', value: 7 })
  })

  it('answers when it comes', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, [{ id: 'a', when: after(5) }])
    const waiting = test.call(rpc.waitForResult, { taskId: 'a' })
    // another call on the same connection: the first has arrived
    await test.call(rpc.getTask, { id: 'a' })
    await test.clock.advance(5_000)
    expect((await waiting).result?.taskId).toBe('a')
  })

  it('answers without one when the wait is over', async () => {
    const test = await TestServer.start()
    await scheduleAll(test, [{ id: 'a', when: after(60) }])
    const waiting = test.call(rpc.waitForResult, { taskId: 'a', wait: seconds(10) })
    await test.call(rpc.getTask, { id: 'a' })
    await test.clock.advance(10_000)
    const { task, result } = await waiting
    expect(task?.state).toBe(TaskState.SCHEDULED)
    expect(result).toBeUndefined()
  })

  it('of an unknown task is NOT_FOUND, and of no task INVALID_ARGUMENT', async () => {
    const test = await TestServer.start()
    expect((await failureOf(test.call(rpc.waitForResult, { taskId: 'x' }))).reason).toBe('TASK_NOT_FOUND')
    const failure = await failureOf(test.call(rpc.waitForResult, { run: 0n, wait: seconds(301) }))
    expect(failure.fields).toEqual(['task_id', 'run', 'wait'])
  })
})
