import { describe, expect, it } from 'vitest'
import { Outcome, SkipReason } from '../../proto/generated/punctual/v1/result.js'
import { DstMark, Position } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { MissedPolicy, Recurrence, TaskState } from '../../proto/generated/punctual/v1/task.js'
import { aTask } from './requests.js'
import { failureOf, rpc, TestServer } from './test-server.js'

const seconds = (value: number) => ({ seconds: BigInt(value), nanos: 0 })
const every = (value: number, rest: Partial<Recurrence> = {}): Recurrence => ({
  ...Recurrence.create(),
  rule: { $case: 'every', value: seconds(value) },
  ...rest,
})
const cron = (expression: string, rest: Partial<Recurrence> = {}): Recurrence => ({
  ...Recurrence.create(),
  rule: { $case: 'cron', value: expression },
  ...rest,
})

describe('a recurring task', () => {
  it('runs on its grid, one result a run, and reads back as it was sent', async () => {
    const test = await TestServer.start()
    const recurrence = every(2, { maxRuns: 3n, missed: MissedPolicy.RUN_ALL })
    const { task } = await test.call(rpc.schedule, { task: aTask({ id: 'a', handler: 'echo', recurrence }) })
    expect(task?.spec?.recurrence).toMatchObject({
      rule: recurrence.rule,
      maxRuns: 3n,
      missed: MissedPolicy.RUN_ALL,
    })
    await test.clock.advance(60_000)
    const stream = test.stream({ start: { $case: 'position', value: Position.EARLIEST } })
    await stream.next()
    const { results = [] } = (await stream.next()) ?? {}
    const start = task?.dueTime?.seconds ?? 0n
    expect(results.map(({ run, dueTime, last }) => [run, (dueTime?.seconds ?? 0n) - start, last])).toEqual([
      [1n, 0n, false],
      [2n, 2n, false],
      [3n, 4n, true],
    ])
    expect((await test.call(rpc.getTask, { id: 'a' })).task?.state).toBe(TaskState.SUCCEEDED)
  })

  it('that is scheduled again is the same task', async () => {
    const test = await TestServer.start()
    const task = aTask({ id: 'a', handler: 'echo', recurrence: every(2) })
    const created: boolean[] = []
    for (let i = 0; i < 5; i++) created.push((await test.call(rpc.schedule, { task })).created)
    expect(created).toEqual([true, false, false, false, false])
  })

  it('is paused and resumed; the slots in between are one SKIPPED result', async () => {
    const test = await TestServer.start()
    await test.call(rpc.schedule, { task: aTask({ id: 'a', handler: 'echo', recurrence: every(1) }) })
    await test.clock.advance(0)
    expect((await test.call(rpc.pause, { id: 'a' })).task?.paused).toBe(true)
    await test.clock.advance(5_500)
    expect((await test.call(rpc.resume, { id: 'a' })).task?.paused).toBe(false)
    await test.clock.advance(1_000)
    const stream = test.stream({
      start: { $case: 'position', value: Position.EARLIEST },
      stopWhenCaughtUp: true,
    })
    await stream.next()
    const { results = [] } = (await stream.next()) ?? {}
    const skipped = results.filter(({ outcome }) => outcome === Outcome.SKIPPED)
    expect(skipped.map(({ skipReason, skippedCount }) => [skipReason, skippedCount])).toEqual([
      [SkipReason.PAUSED, 5n],
    ])
  })

  it('gives the result of its next run to end to who waits', async () => {
    const test = await TestServer.start()
    await test.call(rpc.schedule, { task: aTask({ id: 'a', handler: 'echo', recurrence: every(2) }) })
    await test.clock.advance(0)
    const waiting = test.call(rpc.waitForResult, { taskId: 'a' })
    await test.call(rpc.getTask, { id: 'a' })
    await test.clock.advance(2_000)
    expect((await waiting).result?.run).toBe(2n)
  })

  it.each([
    ['0 s', every(0), 'task.recurrence.every'],
    ['-1 s', every(-1), 'task.recurrence.every'],
    [
      '1 ns',
      every(0, { rule: { $case: 'every', value: { seconds: 0n, nanos: 1 } } }),
      'task.recurrence.every',
    ],
    [
      '1 ms',
      every(0, { rule: { $case: 'every', value: { seconds: 0n, nanos: 1_000_000 } } }),
      'task.recurrence.every',
    ],
    ['31 February', cron('0 0 31 2 *'), 'task.recurrence.cron'],
    ['a megabyte of cron', cron(`${'0,'.repeat(500_000)}0 * * * *`), 'task.recurrence.cron'],
    ['a cron range beyond sense', cron('0-99999999/1 * * * *'), 'task.recurrence.cron'],
    ['10,000 cron fields', cron('* '.repeat(10_000)), 'task.recurrence.cron'],
    ['a zone of three letters', cron('* * * * *', { timeZone: 'EST' }), 'task.recurrence.time_zone'],
  ])('of %s is refused by field', async (_, recurrence, field) => {
    const test = await TestServer.start()
    const failure = await failureOf(test.call(rpc.schedule, { task: aTask({ handler: 'echo', recurrence }) }))
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'INVALID_TASK' })
    expect(new Set(failure.fields)).toEqual(new Set([field]))
  })
})

describe('PreviewRecurrence', () => {
  it('shows what a rule means, and what a clock change does to it', async () => {
    const test = await TestServer.start()
    const recurrence = cron('30 2 * * *', { timeZone: 'America/New_York' })
    const from = seconds(Date.parse('2027-03-13T12:00:00Z') / 1_000)
    const { dueTimes } = await test.call(rpc.previewRecurrence, { recurrence, from, count: 2 })
    expect(dueTimes.map(({ localTime, mark }) => [localTime, mark])).toEqual([
      ['2027-03-14T03:30:00-04:00', DstMark.SHIFTED],
      ['2027-03-15T02:30:00-04:00', DstMark.NORMAL],
    ])
  })

  it('names what is wrong with a rule by its field', async () => {
    const test = await TestServer.start()
    const call = (recurrence: Recurrence | undefined, count = 0) =>
      failureOf(test.call(rpc.previewRecurrence, { recurrence, count }))
    expect((await call(cron('61 * * * *'))).fields).toEqual(['recurrence.cron'])
    expect((await call(undefined, 1_001)).fields).toEqual(['count', 'recurrence'])
  })
})
