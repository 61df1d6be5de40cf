import { describe, expect, it, onTestFinished } from 'vitest'
import { Outcome } from '../../proto/generated/punctual/v1/result.js'
import { DstMark } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { FakeService, silence } from '../support/fake-service.js'
import { FakeTerminal, runCommand } from '../support/fake-terminal.js'
import { resultMessage, scheduledMessage } from '../support/messages.js'
import { RpcError } from '../support/rpc-error.js'

describe('punctual schedule', () => {
  it('stores a task and says when it is due', async () => {
    const { service, run } = await start()
    const { out, exitCode } = await run('schedule', 'fibonacci', '{"n": 30}', '--id', 'a', '--in', '2h30m')
    expect(out).toEqual(['stored a, due 2030-01-01T00:00:00.000Z (now)'])
    expect(exitCode).toBe(0)
    expect(service.requests('schedule')[0]?.task).toMatchObject({
      id: 'a',
      handler: 'fibonacci',
      payload: { $case: 'inputJson', value: '{"n":30}' },
      when: { $case: 'delay', value: { seconds: 9_000n, nanos: 0 } },
    })
  })

  it('takes every option of a task', async () => {
    const { service, run } = await start()
    await run(
      ['schedule', 'echo', '--at', '2030-06-01T09:00:00Z', '--label', 'team=a', '--label', 'env=b=c'],
      ['--priority', '-5', '--key', 'k', '--attempts', '4', '--backoff', '2s', '--attempt-timeout', '0s'],
      ['--start-within', '1m', '--on-conflict', 'replace'],
    )
    expect(service.requests('schedule')[0]).toMatchObject({
      onConflict: 2,
      task: {
        payload: undefined,
        when: { $case: 'dueTime', value: { seconds: 1_906_534_800n } },
        labels: { team: 'a', env: 'b=c' },
        priority: -5,
        concurrencyKey: 'k',
        retry: { maxAttempts: 4, initialBackoff: { seconds: 2n, nanos: 0 } },
        attemptTimeout: { seconds: 0n, nanos: 0 },
        startWithin: { seconds: 60n, nanos: 0 },
      },
    })
  })

  it('reads the input from stdin or a file', async () => {
    const { service, run, terminal } = await start()
    terminal.stdin = '{"from": "stdin"}\n'
    terminal.files.set('in.json', '{"from": "file"}')
    await run('schedule', 'echo', '-')
    await run('schedule', 'echo', '@in.json')
    expect(service.requests('schedule').map(({ task }) => task?.payload?.value)).toEqual([
      '{"from":"stdin"}',
      '{"from":"file"}',
    ])
    const { exitCode, err } = await run('schedule', 'echo', '@nowhere.json')
    expect(exitCode).toBe(2)
    expect(err.join()).toContain('cannot read the input: ENOENT')
  })

  it('shows the next three due times of a recurrence before it commits', async () => {
    const { service, run } = await start()
    service.answer('previewRecurrence', ({ count }) => ({
      dueTimes: Array.from({ length: count }, (_, index) => ({
        dueTime: { seconds: 1_805_009_400n + BigInt(index * 86_400), nanos: 0 },
        localTime: `2027-03-${14 + index}T03:30:00-04:00`,
        mark: index === 0 ? DstMark.SHIFTED : DstMark.NORMAL,
      })),
    }))
    const { out } = await run(
      ['schedule', 'report', '--cron', '30 2 * * *', '--zone', 'America/New_York', '--id', 'r'],
      ['--missed', 'run-all', '--dst-gap', 'SHIFT', '--max-runs', '7'],
    )
    expect(out).toEqual([
      '2027-03-14T03:30:00-04:00  2027-03-14T07:30:00.000Z  shifted: this local time does not exist',
      '2027-03-15T03:30:00-04:00  2027-03-15T07:30:00.000Z',
      '2027-03-16T03:30:00-04:00  2027-03-16T07:30:00.000Z',
      'stored r, due 2030-01-01T00:00:00.000Z (now)',
    ])
    expect(service.requests('previewRecurrence')[0]).toMatchObject({ count: 3, taskId: 'r' })
    expect(service.requests('schedule')[0]?.task?.recurrence).toMatchObject({
      rule: { $case: 'cron', value: '30 2 * * *' },
      timeZone: 'America/New_York',
      maxRuns: 7n,
      missed: 2,
      dstGap: 1,
    })
  })

  it('shows the due times of a series that begins later from then on', async () => {
    const { service, run, terminal } = await start()
    await run('schedule', 'report', '--every', '1h', '--in', '2h')
    await run('schedule', 'report', '--every', '1h', '--at', '2030-06-01T09:00:00Z')
    const from = service.requests('previewRecurrence').map((request) => Number(request.from?.seconds))
    expect(from).toEqual([
      Math.floor(terminal.now() / 1_000) + 7_200,
      Date.parse('2030-06-01T09:00:00Z') / 1_000,
    ])
  })

  it('prints one JSON object with --json', async () => {
    const { run } = await start()
    const { out } = await run('schedule', 'echo', '1', '--id', 'a', '--json')
    expect(out.map((line) => JSON.parse(line) as unknown)).toEqual([
      { id: 'a', handler: 'echo', created: true, due_time: '2030-01-01T00:00:00.000Z' },
    ])
  })
})

describe('punctual schedule --wait', () => {
  it('prints the result', async () => {
    const { service, run } = await start()
    const running = run('schedule', 'echo', '1', '--id', 'a', '--wait', '--json')
    ;(await service.stream()).send({ results: [resultMessage('a')], cursor: 'c2' })
    const { out, exitCode } = await running
    expect(out).toHaveLength(1)
    expect(JSON.parse(out[0] ?? '')).toMatchObject({
      task_id: 'a',
      outcome: 'succeeded',
      output: 'output of a',
    })
    expect(exitCode).toBe(0)
  })

  it('ends with 4 when the task failed', async () => {
    const { service, run } = await start()
    const running = run('schedule', 'echo', '1', '--id', 'a', '--wait')
    const error = { code: 'GONE', message: 'no such\nhost', stack: '', name: 'Error', cause: '' }
    const failed = resultMessage('a', { outcome: Outcome.FAILED, payload: undefined, error })
    ;(await service.stream()).send({ results: [failed], cursor: 'c2' })
    const { out, exitCode } = await running
    expect(out).toEqual([
      '2030-01-01T00:00:00.003Z  failed     echo  a  late 1.5 ms  took 2.25 ms  GONE: no such\\nhost',
    ])
    expect(exitCode).toBe(4)
  })

  it('ends with 130 at Ctrl-C; the task goes on', async () => {
    const { service, run, terminal } = await start()
    const running = run('schedule', 'echo', '1', '--id', 'a', '--wait')
    await service.stream()
    terminal.interrupt()
    expect((await running).exitCode).toBe(130)
    expect(service.requests('cancel')).toEqual([])
  })
})

describe('what cannot be', () => {
  it.each([
    ['a duration that is none', ['--in', '1.5'], "'1.5' has no unit"],
    ['a time that is none', ['--at', 'soon'], "'soon' is no time"],
    ['two times', ['--in', '1s', '--at', '2030-01-01T00:00:00Z'], '--in and --at exclude each other'],
    ['two rules', ['--cron', '* * * * *', '--every', '5s'], 'a recurrence has one rule'],
    ['a policy without a rule', ['--missed', 'skip'], 'a recurrence needs a rule'],
    ['a zone without a cron rule', ['--every', '5s', '--zone', 'UTC'], '--zone belongs to a cron rule'],
    ['an unknown policy', ['--every', '5s', '--overlap', 'twice'], "'twice' is no policy: skip, queue-one"],
    ['a priority out of range', ['--priority', '101'], 'a whole number from -100 to 100'],
    ['a label without a value', ['--label', 'team'], 'say a label as key=value'],
    ['back-off without attempts', ['--backoff', '1s'], '--backoff needs --attempts'],
    ['an unknown option', ['--soon'], "unknown option '--soon'"],
  ])('%s is a usage error, and nothing is sent', async (_, words, message) => {
    const { service, run } = await start()
    const { err, exitCode } = await run('schedule', 'echo', '1', ...words)
    expect(err.join('\n')).toContain(message)
    expect(exitCode).toBe(2)
    expect(service.seen).toEqual([])
  })

  it('what the server refuses is told field by field, with 2', async () => {
    const { service, run } = await start()
    const violations = [
      { field: 'task.input.n', description: 'expected number' },
      { field: 'task.handler', description: "did you mean 'fibonacci'?" },
    ]
    service.answer('schedule', () => {
      throw new RpcError('INVALID_ARGUMENT', 'two', { reason: 'INVALID_TASK', violations })
    })
    const { err, exitCode } = await run('schedule', 'fibonaci', '{"n": "x"}')
    expect(err).toEqual([
      'punctual: task.input.n: expected number',
      "punctual: task.handler: did you mean 'fibonacci'?",
    ])
    expect(exitCode).toBe(2)
  })

  it('a server that is away ends with 5, and says where it was looked for', async () => {
    const { service, run } = await start()
    service.stop()
    const { err, exitCode } = await run('schedule', 'echo', '1')
    expect(err[0]).toBe(
      `punctual: cannot reach a server at ${service.address}: connect ECONNREFUSED ${service.address}`,
    )
    expect(exitCode).toBe(5)
  })

  it('a server that does not answer ends with 5', async () => {
    const { service, run, terminal } = await start()
    service.answer('schedule', silence)
    const running = run('schedule', 'echo', '1', '--timeout', '5s')
    await service.call('schedule')
    terminal.clock.advance(5_000)
    const { err, exitCode } = await running
    expect(err.join()).toContain('no answer within 5000 ms')
    expect(exitCode).toBe(5)
  })
})

async function start() {
  const service = await FakeService.start()
  onTestFinished(() => service.stop())
  service.answer('schedule', scheduledMessage)
  const terminal = new FakeTerminal()
  const run = (...words: (string | string[])[]) => runCommand(words.flat(), { terminal, service })
  return { service, terminal, run }
}
