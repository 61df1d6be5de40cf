import { describe, expect, it } from 'vitest'
import { ClientClosedError } from '../../client/index.js'
import { Outcome, OutputFormat, ResultKind } from '../../proto/generated/punctual/v1/result.js'
import { Position } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { countedSignal, startClient } from '../support/client-of.js'
import { resultMessage } from '../support/messages.js'
import { collect, taskId } from '../support/loops.js'

describe('a loop over results', () => {
  it('asks for JSON outputs, with filter, start and heartbeat', async () => {
    const { service, client } = await startClient({ heartbeatMs: 2_500 })
    const filter = {
      taskIds: ['a'],
      handlers: ['echo'],
      labels: { team: 'a' },
      outcomes: ['failed' as const],
      origins: ['o'],
    }
    const since = new Date('2030-01-01T00:00:00.250Z')
    const loop = client.results({ filter, since, includeAttempts: true, untilCaughtUp: true })
    const read = collect(loop)
    const stream = await service.stream()
    expect(stream.request).toMatchObject({
      filter: { ...filter, outcomes: [Outcome.FAILED] },
      start: { $case: 'since', value: { seconds: 1_893_456_000n, nanos: 250_000_000 } },
      includeAttempts: true,
      stopWhenCaughtUp: true,
      heartbeatInterval: { seconds: 2n, nanos: 500_000_000 },
      outputFormat: OutputFormat.JSON,
    })
    stream.end()
    expect(await read).toEqual([])
  })

  it('gets plain results in order: dates, numbers, lateness, the parsed output', async () => {
    const { service, client } = await startClient()
    const read = collect(client.results({ from: 'earliest', untilCaughtUp: true }))
    const stream = await service.stream()
    expect(stream.request.start).toEqual({ $case: 'position', value: Position.EARLIEST })
    const failed = resultMessage('b', {
      outcome: Outcome.FAILED,
      payload: undefined,
      error: { code: 'HANDLER_ERROR', message: 'no', stack: 's', name: 'Error', cause: '' },
    })
    stream.send({ results: [resultMessage('a', { sequence: 7n }), failed], cursor: 'c2' })
    stream.end()
    const [a, b] = await read
    expect(a).toEqual({
      kind: 'result',
      outcome: 'succeeded',
      output: 'output of a',
      sequence: 7,
      taskId: 'a',
      handler: 'echo',
      run: 1,
      attempts: 1,
      interruptedAttempts: 0,
      dueTime: new Date('2030-01-01T00:00:00.000Z'),
      startTime: new Date('2030-01-01T00:00:00.001Z'),
      endTime: new Date('2030-01-01T00:00:00.003Z'),
      commitTime: new Date('2030-01-01T00:00:00.004Z'),
      latenessMs: 1.5,
      durationMs: 2.25,
      workerId: 'thread-1',
      labels: {},
      traceId: '',
      origin: '',
      last: true,
      manual: false,
    })
    expect(b).toMatchObject({ outcome: 'failed', error: { code: 'HANDLER_ERROR', message: 'no' } })
    expect(() => JSON.stringify([a, b])).not.toThrow()
  })

  it('knows attempts, skips, cancels and bytes', async () => {
    const { service, client } = await startClient()
    const read = collect(client.results({ untilCaughtUp: true }))
    const stream = await service.stream()
    stream.send({
      cursor: 'c',
      results: [
        resultMessage('a', { kind: ResultKind.ATTEMPT, outcome: Outcome.TIMED_OUT, payload: undefined }),
        resultMessage('b', {
          outcome: Outcome.SKIPPED,
          skipReason: 4,
          skippedCount: 3n,
          startTime: undefined,
        }),
        resultMessage('c', { outcome: Outcome.CANCELLED, cancelStage: 3 }),
        resultMessage('d', { payload: { $case: 'outputBytes', value: Buffer.from([7]) } }),
        resultMessage('e', { outcome: Outcome.EXPIRED, startTime: undefined }),
      ],
    })
    stream.end()
    const [a, b, c, d, e] = await read
    expect(a).toMatchObject({ kind: 'attempt', outcome: 'timedOut' })
    expect(b).toMatchObject({ outcome: 'skipped', skipReason: 'dstGap', skippedCount: 3 })
    expect(b).not.toHaveProperty('latenessMs')
    expect(c).toMatchObject({ outcome: 'cancelled', cancelStage: 'terminated' })
    expect(d).toMatchObject({ output: new Uint8Array([7]) })
    expect(e).toMatchObject({ outcome: 'expired' })
  })
})

describe('leaving the loop', () => {
  it('by break ends the call at the server (C156)', async () => {
    const { service, client } = await startClient()
    const left = service.stream().then((stream) => {
      stream.send({ results: [resultMessage('a'), resultMessage('b'), resultMessage('c')], cursor: 'c1' })
      return stream.left
    })
    const seen: string[] = []
    for await (const result of client.results()) {
      seen.push(result.taskId)
      if (result.taskId === 'b') break
    }
    await left
    expect(seen).toEqual(['a', 'b'])
  })

  it('by an error of the body ends the call at the server', async () => {
    const { service, client } = await startClient()
    const left = service.stream().then((stream) => {
      stream.send({ results: [resultMessage('a')], cursor: 'c1' })
      return stream.left
    })
    const loop = async () => {
      for await (const result of client.results()) throw new Error(`bad ${result.taskId}`)
    }
    await expect(loop()).rejects.toThrow('bad a')
    await left
  })

  it('by a signal ends the call at the server, even while the body is busy, and leaves no listener', async () => {
    const { service, client } = await startClient()
    const { controller, signal, listeners } = countedSignal()
    const loop = client.results({ signal })[Symbol.asyncIterator]()
    const first = taskId(loop.next())
    const stream = await service.stream()
    stream.send({ results: [resultMessage('a'), resultMessage('b')], cursor: 'c1' })
    expect(await first).toBe('a')
    controller.abort()
    await stream.left
    await expect(loop.next()).rejects.toMatchObject({ name: 'AbortError' })
    expect(listeners()).toBe(0)
    const again = async () => {
      for await (const _ of client.results({ signal })) expect.unreachable()
    }
    await expect(again()).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('by closing the client', async () => {
    const { service, client } = await startClient()
    const next = client.results()[Symbol.asyncIterator]().next()
    await service.stream()
    await Promise.all([expect(next).rejects.toBeInstanceOf(ClientClosedError), client.close()])
  })
})

describe('the pace of the body', () => {
  it('is that of the stream: a server that is not read is held back', async () => {
    const { service, client } = await startClient()
    service.answer('listHandlers', () => ({ handlers: [] }))
    const loop = client.results()[Symbol.asyncIterator]()
    const first = taskId(loop.next())
    const stream = await service.stream()
    const value = JSON.stringify('x'.repeat(1024 * 1024))
    const large = resultMessage('a', { payload: { $case: 'outputJson', value } })
    let sent = 0
    const sending = (async () => {
      for (; sent < 100; sent++)
        if (!stream.send({ results: [large], cursor: `c${sent}` })) await stream.drained()
    })()
    void sending
    expect(await first).toBe('a')
    // other calls on the connection go on, long enough for all of it to come if nothing held it back
    for (let calls = 0; calls < 300; calls++) await client.handlers()
    expect(sent).toBeLessThan(50)
    await loop.return?.()
    await stream.left
  })
})

describe('batches()', () => {
  it('gives results as they arrive, each with the cursor to keep', async () => {
    const { service, client } = await startClient()
    const results = client.results({ after: 'c0' })
    const batches = results.batches()
    const first = batches.next()
    const stream = await service.stream()
    expect(stream.request.start).toEqual({ $case: 'afterCursor', value: 'c0' })
    stream.send({ cursor: 'c1', caughtUp: true })
    stream.send({ results: [resultMessage('a'), resultMessage('b')], cursor: 'c2' })
    expect((await first).value).toEqual({ results: [], cursor: 'c1', caughtUp: true })
    expect((await batches.next()).value).toMatchObject({ cursor: 'c2', caughtUp: false })
    // not finished with the second yet
    expect(results.cursor).toBe('c1')
    await batches.return()
    await stream.left
  })
})
