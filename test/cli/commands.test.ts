import { describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../client/index.js'
import { DstMark, GetStatsResponse } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { TaskSpec, TaskState } from '../../proto/generated/punctual/v1/task.js'
import { FakeService } from '../support/fake-service.js'
import { FakeTerminal, runCommand } from '../support/fake-terminal.js'
import { resultMessage, taskMessage } from '../support/messages.js'
import { RpcError } from '../support/rpc-error.js'

const DUE = { seconds: 1_893_456_005n, nanos: 0 }

describe('punctual get', () => {
  it('shows what is known of a task, and its newest result', async () => {
    const { service, run } = await start()
    const spec = TaskSpec.create({ id: 'a', handler: 'echo', labels: { team: 'x\u001b[31m' } })
    spec.payload = { $case: 'inputJson', value: '{"n":1}' }
    const task = taskMessage({ spec, dueTime: DUE, blockedReason: 1, attempts: 1 })
    service.answer('getTask', () => ({ task, result: resultMessage('a') }))
    const { out } = await run('get', 'a')
    expect(out.join('\n')).toMatchInlineSnapshot(`
      "id        a
      handler   echo
      state     scheduled (blocked: handlerMissing)
      run       1, 1 attempt
      due       2030-01-01T00:00:05.000Z (in 5 s)
      labels    team=x\\u001b[31m
      input     {"n":1}

      2030-01-01T00:00:00.003Z  succeeded  echo  a  late 1.5 ms  took 2.25 ms  "output of a""
    `)
    const { out: both } = await run('get', 'a', '--json')
    expect(JSON.parse(both.at(-1) ?? '')).toMatchObject({
      task: { id: 'a', due_time: '2030-01-01T00:00:05.000Z', blocked_reason: 'handler_missing' },
      result: { task_id: 'a', lateness_ms: 1.5 },
    })
  })

  it('of an unknown task ends with 3', async () => {
    const { service, run } = await start()
    service.answer('getTask', () => {
      throw new RpcError('NOT_FOUND', "no task with the id 'a' is known", { reason: 'TASK_NOT_FOUND' })
    })
    const { err, exitCode } = await run('get', 'a')
    expect(err).toEqual(["punctual: no task with the id 'a' is known"])
    expect(exitCode).toBe(3)
  })
})

describe('punctual list', () => {
  it('shows a table, and says when more follow', async () => {
    const { service, run } = await start()
    const tasks = ['a', 'b', 'c'].map((id) =>
      taskMessage({ spec: TaskSpec.create({ id, handler: 'echo' }), dueTime: DUE }),
    )
    service.answer('listTasks', () => ({ tasks, nextPageToken: '' }))
    const { out, err } = await run([
      'list',
      '--limit',
      '2',
      '--state',
      'scheduled,RUNNING',
      '--handler',
      'echo',
      '--label',
      'a=b',
    ])
    expect(out.join('\n')).toMatchInlineSnapshot(`
      "id  handler  state      due                               run/attempts
      a   echo     scheduled  2030-01-01T00:00:05.000Z  in 5 s  1/0
      b   echo     scheduled  2030-01-01T00:00:05.000Z  in 5 s  1/0"
    `)
    expect(err).toEqual(['more follow: this is the first 2; --limit 0 shows all'])
    expect(service.requests('listTasks')[0]).toMatchObject({
      filter: { states: [TaskState.SCHEDULED, TaskState.RUNNING], handlers: ['echo'], labels: { a: 'b' } },
      pageSize: 3,
    })
  })

  it('prints one JSON object a line with --json', async () => {
    const { service, run } = await start()
    const tasks = ['a', 'b'].map((id) => taskMessage({ spec: TaskSpec.create({ id }) }))
    service.answer('listTasks', () => ({ tasks, nextPageToken: '' }))
    const { out } = await run('list', '--json')
    expect(out.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(['a', 'b'])
  })
})

describe('punctual cancel', () => {
  it('cancels several, and ends with the worst code', async () => {
    const { service, run } = await start()
    const error = { code: 5, reason: 'TASK_NOT_FOUND', message: "no task 'b'", violations: [] }
    service.answer('cancelBatch', () => ({
      answers: [
        { id: 'a', state: TaskState.RUNNING, cancelRequested: true, error: undefined },
        { id: 'b', state: TaskState.UNSPECIFIED, cancelRequested: false, error },
      ],
      count: 1n,
    }))
    const { out, err, exitCode } = await run('cancel', 'a', 'b', '--grace', '5s')
    expect(out).toEqual(['a  running (told to stop)'])
    expect(err).toEqual(["punctual: no task 'b'"])
    expect(exitCode).toBe(3)
    expect(service.requests('cancelBatch')[0]).toMatchObject({ ids: ['a', 'b'], grace: { seconds: 5n } })
  })
})

describe('punctual pause, resume, run-now', () => {
  it('show the task with the next due time that will really happen', async () => {
    const { service, run } = await start()
    const task = taskMessage({ spec: TaskSpec.create({ id: 'a' }), nextDueTime: DUE })
    service.answer('pause', () => ({ task: { ...task, paused: true, nextDueTime: undefined } }))
    service.answer('resume', () => ({ task }))
    service.answer('runNow', () => ({ task }))
    expect((await run('pause', 'a')).out).toEqual(['a  scheduled (paused)'])
    expect((await run('resume', 'a')).out.at(-1)).toBe('a  scheduled, next 2030-01-01T00:00:05.000Z (in 5 s)')
    await run('run-now', 'a')
    expect(service.seen.map(({ name }) => name)).toEqual(['pause', 'resume', 'runNow'])
  })
})

describe('punctual preview', () => {
  it('prints each due time, in the zone and in UTC', async () => {
    const { service, run } = await start()
    service.answer('previewRecurrence', () => ({
      dueTimes: [{ dueTime: DUE, localTime: '2029-12-31T19:00:05-05:00', mark: DstMark.DOUBLED }],
    }))
    const words = ['preview', '0 2 * * *', '--zone', 'America/New_York', '--count', '5']
    const { out } = await run(...words, '--from', '2027-03-13T12:00:00Z')
    expect(out).toEqual([
      '2029-12-31T19:00:05-05:00  2030-01-01T00:00:05.000Z  doubled: this local time comes twice',
    ])
    expect(service.requests('previewRecurrence')[0]).toMatchObject({
      recurrence: { rule: { $case: 'cron', value: '0 2 * * *' }, timeZone: 'America/New_York' },
      from: { seconds: 1_804_939_200n, nanos: 0 },
      count: 5,
    })
    const { out: json } = await run(...words, '--json')
    expect(JSON.parse(json.at(-1) ?? '')).toEqual({
      due_time: '2030-01-01T00:00:05.000Z',
      local_time: '2029-12-31T19:00:05-05:00',
      mark: 'doubled',
    })
  })

  it('needs no server: without one, and without an address, it says what one would say', async () => {
    const words = ['preview', '30 2 * * *', '--zone', 'America/New_York', '--from', '2027-03-13T12:00:00Z']
    const { out, err, exitCode } = await runCommand([...words, '--count', '2'], { terminal: withNoServer() })
    expect(out).toEqual([
      '2027-03-14T03:30:00-04:00  2027-03-14T07:30:00.000Z  shifted: this local time does not exist',
      '2027-03-15T02:30:00-04:00  2027-03-15T06:30:00.000Z',
    ])
    expect({ err, exitCode }).toEqual({ err: [], exitCode: 0 })
    const refused = await runCommand(['preview', '61 2 * * *'], { terminal: withNoServer() })
    expect(refused.err.join()).toContain('recurrence.cron: ')
    expect(refused.exitCode).toBe(2)
  })

  it('of a server that was named and is not there is refused', async () => {
    const words = ['preview', '0 2 * * *', '--address', '127.0.0.1:1']
    const { err, exitCode } = await runCommand(words)
    expect(err.join()).toContain('cannot reach a server at 127.0.0.1:1')
    expect(exitCode).toBe(5)
  })

  it('without a rule is a usage error', async () => {
    const { run } = await start()
    const { err, exitCode } = await run('preview')
    expect(err.join()).toContain("say a rule: a cron expression such as '0 2 * * *', or --every.")
    expect(exitCode).toBe(2)
  })
})

describe('punctual handlers', () => {
  it('shows a table; with --json also the schemas', async () => {
    const { service, run } = await start()
    service.answer('listHandlers', () => ({
      handlers: [
        {
          name: 'echo',
          description: 'Gives its input back.',
          lane: 'thread',
          inputSchema: { type: 'object', minProperties: 1 },
          outputSchema: undefined,
          maxConcurrent: 4,
        },
      ],
    }))
    const { out } = await run('handlers')
    expect(out.join('\n')).toMatchInlineSnapshot(`
      "name  lane    at once  description
      echo  thread  4        Gives its input back."
    `)
    const { out: json } = await run('handlers', '--json')
    expect(JSON.parse(json.at(-1) ?? '')).toMatchObject({
      input_schema: { type: 'object', minProperties: 1 },
    })
  })
})

describe('punctual stats', () => {
  it('shows findings first, then tasks, slots, outcomes, lateness, store', async () => {
    const { service, run } = await start()
    service.answer('getStats', statsMessage)
    const { out } = await run('stats')
    expect(out.join('\n')).toMatchInlineSnapshot(`
      "! LATE_TIMER: woke 900 ms late

      tasks  scheduled 1,234   running 2
      slots  thread 1/2   due and waiting 7

      handler  outcome    results
      echo     timed out  9

      late         count  mean  median  p95   p99   max
      last minute  9      1 ms  0.8 ms  2 ms  3 ms  1.5 s

      store 1.5 GiB of 64 GiB, 12 results   1 open stream   up 1 h"
    `)
  })

  it('with --watch draws again in place on a terminal, until Ctrl-C', async () => {
    const { service, run, terminal } = await start()
    service.answer('getStats', statsMessage)
    terminal.isTerminal = true
    let sleeps = 0
    terminal.onSleep = (ms) => {
      expect(ms).toBe(2_000)
      if (++sleeps === 3) terminal.interrupt()
    }
    const { blocks, out, exitCode } = await run('stats', '--watch', '--interval', '2s')
    expect(blocks).toHaveLength(3)
    expect(out).toEqual([])
    expect(exitCode).toBe(0)
  })

  it('with --watch --json prints an object each time', async () => {
    const { service, run, terminal } = await start()
    service.answer('getStats', statsMessage)
    terminal.onSleep = () => terminal.interrupt()
    const { out } = await run('stats', '--watch', '--json')
    expect(out).toHaveLength(1)
    expect(JSON.parse(out[0] ?? '')).toMatchObject({ states: { scheduled: 1_234 }, open_streams: 1 })
  })
})

function statsMessage(): GetStatsResponse {
  return GetStatsResponse.create({
    states: [
      { state: TaskState.SCHEDULED, count: 1_234n },
      { state: TaskState.RUNNING, count: 2n },
    ],
    outcomes: [{ handler: 'echo', outcome: 3, count: 9n }],
    lanes: [{ lane: 'thread', slots: 2, busy: 1 }],
    lateness: [{ period: 'minute', count: 9n, meanMs: 1, p50Ms: 0.8, p95Ms: 2, p99Ms: 3, maxMs: 1_500 }],
    store: {
      bytes: 1_610_612_736n,
      maxBytes: 68_719_476_736n,
      logEntries: 12n,
      earliestCursor: '',
      latestCursor: '',
      available: true,
    },
    findings: [{ kind: 'LATE_TIMER', message: 'woke 900 ms late', since: DUE }],
    startTime: { seconds: 1_893_452_400n, nanos: 0 },
    openStreams: 1n,
    dueWaiting: 7n,
  })
}

async function start() {
  const service = await FakeService.start()
  onTestFinished(() => service.stop())
  const terminal = new FakeTerminal()
  const run = (...words: (string | string[])[]) => runCommand(words.flat(), { terminal, service })
  return { service, terminal, run }
}

/** On a machine on which nothing serves. */
function withNoServer(): FakeTerminal {
  const terminal = new FakeTerminal()
  terminal.connect = (options) => createClient({ ...options, address: '127.0.0.1:1' })
  return terminal
}
