import { describe, expect, it, onTestFinished } from 'vitest'
import { Outcome } from '../../proto/generated/punctual/v1/result.js'
import { Position } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { FakeService } from '../support/fake-service.js'
import { FakeTerminal, runCommand } from '../support/fake-terminal.js'
import { resultMessage } from '../support/messages.js'
import { RpcError } from '../support/rpc-error.js'

describe('punctual results', () => {
  it('shows what is kept, a line for each, and ends', async () => {
    const { service, run } = await start()
    const running = run('results')
    const stream = await service.stream()
    expect(stream.request).toMatchObject({
      start: { $case: 'position', value: Position.EARLIEST },
      stopWhenCaughtUp: true,
    })
    const results = [
      resultMessage('a', { last: false, run: 2n }),
      resultMessage('b', { outcome: Outcome.SKIPPED, skippedCount: 3n, skipReason: 1, startTime: undefined }),
      resultMessage('c', { payload: { $case: 'outputBytes', value: Buffer.alloc(9) } }),
      resultMessage('d', { payload: { $case: 'outputJson', value: JSON.stringify('x'.repeat(500)) } }),
    ]
    stream.send({ results, cursor: 'c1' })
    stream.end()
    const { out, exitCode } = await running
    expect(out.join('\n')).toMatchInlineSnapshot(`
      "2030-01-01T00:00:00.003Z  succeeded  echo  a  run 2  late 1.5 ms  took 2.25 ms  "output of a"
      2030-01-01T00:00:00.003Z  skipped    echo  b  3 slots: overlap
      2030-01-01T00:00:00.003Z  succeeded  echo  c  late 1.5 ms  took 2.25 ms  9 bytes
      2030-01-01T00:00:00.003Z  succeeded  echo  d  late 1.5 ms  took 2.25 ms  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"
    `)
    expect(Math.max(...out.map((line) => line.length))).toBeLessThanOrEqual(120)
    expect(exitCode).toBe(0)
  })

  it('with --follow goes on from now, by filter, until Ctrl-C', async () => {
    const { service, run, terminal } = await start()
    const running = run(
      [
        'results',
        '--follow',
        '--handler',
        'echo,report',
        '--label',
        'team=a',
        '--outcome',
        'failed,timed-out',
      ],
      ['--task', 'a', '--attempts', '--json'],
    )
    const stream = await service.stream()
    expect(stream.request).toMatchObject({
      start: undefined,
      stopWhenCaughtUp: false,
      includeAttempts: true,
      filter: {
        taskIds: ['a'],
        handlers: ['echo', 'report'],
        labels: { team: 'a' },
        outcomes: [Outcome.FAILED, Outcome.TIMED_OUT],
      },
    })
    stream.send({
      results: [resultMessage('a', { outcome: Outcome.TIMED_OUT, payload: undefined })],
      cursor: 'c1',
    })
    await terminal.said(1)
    terminal.interrupt()
    const { out, exitCode } = await running
    expect(out.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { task_id: 'a', outcome: 'timed_out' },
    ])
    expect(exitCode).toBe(0)
    await stream.left
  })

  it('starts where it is told: a time, how long ago, a cursor, the position of a consumer', async () => {
    const { service, run, terminal } = await start()
    const startOf = async (n: number, ...words: string[]) => {
      const running = run('results', '--follow', ...words)
      const { request } = await service.stream(n)
      terminal.interrupt()
      await running
      return { start: request.start, consumer: request.consumer, lossy: request.lossy }
    }
    const at = (seconds: bigint) => ({ $case: 'since', value: { seconds, nanos: 0 } })
    expect((await startOf(1, '--since', '2029-01-01T00:00:00Z')).start).toEqual(at(1_861_920_000n))
    expect((await startOf(2, '--since', '1h')).start).toEqual(at(1_893_452_400n))
    expect((await startOf(3, '--after', 'c7')).start).toEqual({ $case: 'afterCursor', value: 'c7' })
    expect((await startOf(4, '--from', 'earliest')).start).toEqual({ $case: 'position', value: 1 })
    expect(await startOf(5, '--consumer', 'audit', '--lossy')).toEqual({
      start: undefined,
      consumer: 'audit',
      lossy: true,
    })
  })

  it('tells of a break on stderr, once, and goes on', async () => {
    const { service, run, terminal } = await start()
    const running = run('results')
    const first = await service.stream(1)
    first.send({ results: [resultMessage('a')], cursor: 'c1' })
    first.fail()
    await terminal.clock.timer((ms) => ms === 100)
    terminal.clock.advance(100)
    // still away: that is not worth another line
    ;(await service.stream(2)).fail()
    await terminal.clock.timer((ms) => ms === 200)
    terminal.clock.advance(200)
    const second = await service.stream(3)
    second.send({ results: [resultMessage('b')], cursor: 'c2' })
    second.end()
    const { out, err } = await running
    expect(out).toHaveLength(2)
    expect(err).toEqual(['punctual: connection lost (the server stops); resuming'])
  })

  it('ends with an error when the place in the log is gone', async () => {
    const { service, run } = await start()
    const running = run('results', '--after', 'c1')
    ;(await service.stream()).fail(
      new RpcError('OUT_OF_RANGE', 'c1 is no longer kept', { reason: 'CURSOR_EXPIRED' }),
    )
    const { err, exitCode } = await running
    expect(err).toEqual(['punctual: c1 is no longer kept'])
    expect(exitCode).toBe(1)
  })

  it('refuses two starts, and an outcome that does not exist', async () => {
    const { run } = await start()
    const twice = await run('results', '--since', '1h', '--after', 'c')
    expect(twice.err.join()).toContain('--since and --after exclude each other')
    const wrong = await run('results', '--outcome', 'broken')
    expect(wrong.err.join()).toContain(
      "'broken' is no outcome: succeeded, failed, timed-out, cancelled, expired, skipped",
    )
    expect(wrong.exitCode).toBe(2)
  })
})

async function start() {
  const service = await FakeService.start()
  onTestFinished(() => service.stop())
  const terminal = new FakeTerminal()
  const run = (...words: (string | string[])[]) => runCommand(words.flat(), { terminal, service })
  return { service, terminal, run }
}
