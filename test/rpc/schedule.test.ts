import { describe, expect, it } from 'vitest'
import { OnConflict, ScheduleRequest } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { TaskState } from '../../proto/generated/punctual/v1/task.js'
import { failureOf, rpc, TestServer } from './test-server.js'
import { aTask } from './requests.js'

const json = (value: string) => ({ $case: 'inputJson' as const, value })
const MiB = 1024 * 1024

describe('Schedule', () => {
  it('answers with the stored task, and runs it', async () => {
    const test = await TestServer.start()
    const { task, created } = await test.call(rpc.schedule, {
      task: aTask({ id: 'a', handler: 'echo', payload: { $case: 'input', value: { n: 1 } } }),
    })
    expect(created).toBe(true)
    expect(task).toMatchObject({
      state: TaskState.SCHEDULED,
      run: 1n,
      spec: { payload: { value: { n: 1 } } },
    })
    await test.clock.advance(0)
    const got = await test.call(rpc.getTask, { id: 'a' })
    expect(got.task?.state).toBe(TaskState.SUCCEEDED)
    expect(got.result?.payload).toEqual({ $case: 'output', value: { n: 1 } })
  })

  it('makes an id when none is given, another each time (C099)', async () => {
    const test = await TestServer.start()
    const task = aTask({ handler: 'echo' })
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await test.call(rpc.schedule, { task })).task?.spec?.id),
    )
    expect(new Set(ids).size).toBe(3)
    expect(ids[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-7/)
  })

  it('runs what was due an hour ago at once, and once (C010)', async () => {
    const test = await TestServer.start()
    const seconds = BigInt(test.clock.now() / 1_000 - 3_600)
    const when = { $case: 'dueTime' as const, value: { seconds, nanos: 0 } }
    await test.call(rpc.schedule, { task: aTask({ id: 'a', handler: 'echo', when }) })
    await test.clock.advance(10_000)
    const { task } = await test.call(rpc.getTask, { id: 'a' })
    expect(task).toMatchObject({
      state: TaskState.SUCCEEDED,
      run: 1n,
      attempts: 1,
      dueTime: task?.createTime,
    })
  })

  it('takes an explicit delay of nothing for now (C127)', async () => {
    const test = await TestServer.start()
    const when = { $case: 'delay' as const, value: { seconds: 0n, nanos: 0 } }
    const { task } = await test.call(rpc.schedule, { task: aTask({ handler: 'echo', when }) })
    expect(task?.dueTime).toEqual(task?.createTime)
    expect(task?.spec?.when).toEqual(when)
  })

  it('gives an input back as it was sent (C125)', async () => {
    const test = await TestServer.start()
    const value = { a: null, b: [1, null], c: { d: null }, e: 0, f: '', g: false }
    for (const payload of [{ $case: 'input' as const, value }, json(JSON.stringify(value))]) {
      await test.call(rpc.schedule, {
        task: aTask({ id: 'a', handler: 'echo', payload }),
        onConflict: OnConflict.REPLACE,
      })
      await test.clock.advance(0)
      const { task, result } = await test.call(rpc.getTask, { id: 'a' })
      expect(task?.spec?.payload).toEqual({ $case: 'input', value })
      expect(result?.payload).toEqual({ $case: 'output', value })
    }
    const bytes = { $case: 'inputBytes' as const, value: Buffer.of(0, 255, 0) }
    await test.call(rpc.schedule, { task: aTask({ id: 'b', handler: 'echo', payload: bytes }) })
    expect((await test.call(rpc.getTask, { id: 'b' })).task?.spec?.payload).toEqual(bytes)
  })

  it('takes an input at the limit, and names the limit beyond it (C113)', async () => {
    const test = await TestServer.start()
    const sized = (size: number) => ({
      task: aTask({ handler: 'echo', payload: json(`"${'x'.repeat(size - 2)}"`) }),
    })
    expect((await test.call(rpc.schedule, sized(MiB))).created).toBe(true)
    const over = await failureOf(test.call(rpc.schedule, sized(MiB + 1)))
    expect(over).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['task.input_json'] })
    expect(over.message).toContain('1048576')
    const huge = await failureOf(test.call(rpc.schedule, sized(5 * MiB)))
    expect(huge.code).toBe('RESOURCE_EXHAUSTED')
    expect(huge.message).toContain('4194304')
  })

  it('names every violation at once', async () => {
    const test = await TestServer.start()
    const task = aTask({
      id: 'a b',
      handler: 'echo',
      payload: json('{"n": 9007199254740993}'),
      when: { $case: 'delay', value: { seconds: -1n, nanos: 0 } },
      priority: 101,
    })
    const failure = await failureOf(test.call(rpc.schedule, { task, onConflict: 9 as never }))
    expect(failure).toMatchObject({
      code: 'INVALID_ARGUMENT',
      reason: 'INVALID_TASK',
      facts: { violations: '5' },
    })
    expect(failure.fields).toEqual([
      'task.delay',
      'on_conflict',
      'task.id',
      'task.input_json.n',
      'task.priority',
    ])
    expect(failure.message).toContain('4 more violations')
    expect((await test.call(rpc.listTasks, {})).tasks).toEqual([])
  })

  it.each([
    '../../../../tmp/evil',
    '/tmp/evil.js',
    'node:child_process',
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
  ])('knows no handler %s, and imports nothing (C149)', async (handler) => {
    const test = await TestServer.start()
    const failure = await failureOf(test.call(rpc.schedule, { task: aTask({ handler }) }))
    expect(failure).toMatchObject({
      code: 'INVALID_ARGUMENT',
      reason: 'UNKNOWN_HANDLER',
      fields: ['task.handler'],
    })
  })

  it('says which handler was probably meant', async () => {
    const test = await TestServer.start()
    const failure = await failureOf(test.call(rpc.schedule, { task: aTask({ handler: 'fibonaci' }) }))
    expect(failure.message).toContain("did you mean 'fibonacci'?")
  })

  it('tells at once of an input that the handler does not take', async () => {
    const test = await TestServer.start()
    const task = aTask({ handler: 'fibonacci', payload: json('{"n": "x"}') })
    const failure = await failureOf(test.call(rpc.schedule, { task }))
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['task.input.n'] })
  })

  it('refuses a field that a newer client knows, by its number', async () => {
    const test = await TestServer.start()
    const newer = Buffer.concat([
      ScheduleRequest.encode({ ...ScheduleRequest.create(), task: aTask({ handler: 'echo' }) }).finish(),
    ])
    // field 1 holds the task: one more field in it
    newer.writeUInt8(newer.readUInt8(1) + 3, 1)
    const bytes = Buffer.concat([newer, Buffer.of(0xf8, 0x01, 0x01)])
    const failure = await failureOf(test.callRaw(rpc.schedule.path, bytes))
    expect(failure).toMatchObject({
      code: 'UNIMPLEMENTED',
      reason: 'NOT_BUILT',
      facts: { fields: 'task (field 31)' },
    })
  })
})

describe('the same id again', () => {
  const task = (n: number) => aTask({ id: 'k', handler: 'echo', payload: json(`{"a": ${n}}`) })

  it('with the same content is the stored task; with other content it is taken (C091)', async () => {
    const test = await TestServer.start()
    expect((await test.call(rpc.schedule, { task: task(1) })).created).toBe(true)
    const failure = await failureOf(test.call(rpc.schedule, { task: task(2) }))
    expect(failure).toMatchObject({
      code: 'ALREADY_EXISTS',
      reason: 'TASK_EXISTS',
      facts: { task_id: 'k', differs_in: 'input' },
    })
    const again = await test.call(rpc.schedule, { task: task(1) })
    expect(again).toMatchObject({ created: false, task: { spec: { id: 'k' } } })
  })

  it('is the stored task whatever has become of it, and nothing runs twice (C093)', async () => {
    const test = await TestServer.start()
    await test.call(rpc.schedule, { task: task(1) })
    await test.clock.advance(0)
    const done = await test.call(rpc.schedule, { task: task(1) })
    expect(done).toMatchObject({ created: false, task: { state: TaskState.SUCCEEDED, run: 1n } })
    const later = aTask({
      id: 'c',
      handler: 'echo',
      when: { $case: 'delay', value: { seconds: 60n, nanos: 0 } },
    })
    await test.call(rpc.schedule, { task: later })
    await test.call(rpc.cancel, { id: 'c' })
    const cancelled = await test.call(rpc.schedule, { task: later })
    expect(cancelled).toMatchObject({ created: false, task: { state: TaskState.CANCELLED } })
  })

  it('from 50 calls at once on 5 connections is one task, created once (C090)', async () => {
    const test = await TestServer.start()
    const clients = [1, 2, 3, 4, 5].map(() => test.client())
    const calls = Array.from({ length: 50 }, (_, i) =>
      test.call(rpc.schedule, { task: task(1) }, clients[i % 5]),
    )
    const answers = await Promise.all(calls)
    expect(answers.filter(({ created }) => created)).toHaveLength(1)
    expect(new Set(answers.map((answer) => answer.task?.spec?.id))).toEqual(new Set(['k']))
  })

  it('KEEP answers the stored task, REPLACE puts the new spec in its place', async () => {
    const test = await TestServer.start()
    const later = { $case: 'delay' as const, value: { seconds: 60n, nanos: 0 } }
    await test.call(rpc.schedule, { task: { ...task(1), when: later } })
    const kept = await test.call(rpc.schedule, { task: task(2), onConflict: OnConflict.KEEP })
    expect(kept).toMatchObject({ created: false, task: { spec: { payload: { value: { a: 1 } } } } })
    const replaced = await test.call(rpc.schedule, { task: task(2), onConflict: OnConflict.REPLACE })
    expect(replaced).toMatchObject({ created: false, task: { spec: { payload: { value: { a: 2 } } } } })
    await test.clock.advance(0)
    expect((await test.call(rpc.getTask, { id: 'k' })).result?.payload).toEqual({
      $case: 'output',
      value: { a: 2 },
    })
  })

  it('is another id when a single byte differs (C100)', async () => {
    const test = await TestServer.start()
    for (const id of ['A', 'a', 'k']) {
      expect((await test.call(rpc.schedule, { task: aTask({ id, handler: 'echo' }) })).created).toBe(true)
    }
    for (const id of ['k ', 'é', 'e\u0301', 'a'.repeat(129)]) {
      const failure = await failureOf(test.call(rpc.schedule, { task: aTask({ id, handler: 'echo' }) }))
      expect(failure.fields).toEqual(['task.id'])
    }
  })
})
