import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { attemptRequest } from '../executor/attempt-request.js'
import { openThreads, pause, type ThreadHarness } from './thread-harness.js'

const FAULTY = new URL('./faulty-handlers.ts', import.meta.url)

let harness: ThreadHarness
let nextId = 1
beforeAll(async () => {
  harness = await openThreads(FAULTY, { env: { GREETING: 'hello' } })
})
afterAll(() => harness.executor.close())

/** Starts an attempt in a slot of its own. @returns its number. */
function start(
  handler: string,
  input?: unknown,
  timeoutMs = 0,
  lane: 'thread' | 'shared' = 'thread',
): number {
  const id = nextId++
  harness.executor.start(lane, [attemptRequest(id, handler, input, { timeoutMs })])
  return id
}

async function outcomeOf(id: number) {
  await harness.until(() => harness.events.haveEnded(id))
  return harness.events.outcome(id)
}

const began = (...ids: number[]) => harness.until(() => ids.every((id) => harness.events.has(`began ${id}`)))

function durationUs(id: number): number {
  const { startTimeUs, endTimeUs } = harness.events.ends.get(id) ?? { startTimeUs: 0, endTimeUs: 0 }
  return endTimeUs - startTimeUs
}

/** Both slots work, beside each other. */
async function expectWholePool(): Promise<void> {
  const ids = [start('wait', 60_000), start('wait', 60_000)]
  await began(...ids)
  expect(new Set(ids.map((id) => harness.events.workerIds.get(id))).size).toBe(2)
  for (const id of ids) harness.executor.stop(id, 10_000)
  for (const id of ids) expect(await outcomeOf(id)).toEqual({ kind: 'cancelled', stage: 'cooperative' })
}

describe('a handler that ends its thread', () => {
  it('fails alone, also with exit code 0, and the pool stays whole (C135)', async () => {
    for (let time = 0; time < 5; time++) {
      const ids = [start('exit', 0), start('exit', 1)]
      for (const id of ids)
        expect(await outcomeOf(id)).toMatchObject({
          kind: 'failed',
          retryable: true,
          error: { code: 'WORKER_EXITED', message: expect.stringContaining('exited') as string },
        })
    }
    await expectWholePool()
  })

  it('takes nobody of its burst along: those that have ended keep their outcome, the others go back', async () => {
    const [first, second, third] = [nextId++, nextId++, nextId++]
    harness.executor.start('thread', [
      attemptRequest(first, 'good', 1),
      attemptRequest(second, 'exit', 1),
      attemptRequest(third, 'good', 3),
    ])
    expect(await outcomeOf(second)).toMatchObject({ kind: 'failed' })
    expect(await outcomeOf(first)).toMatchObject({ kind: 'succeeded' })
    await harness.until(() => harness.events.has(`returned ${third}`))
    expect(harness.events.has(`began ${third}`)).toBe(false)
  })

  it('after its own end interrupts whoever runs there then, uncounted', async () => {
    const [leaver, next] = [nextId++, nextId++]
    harness.executor.start('thread', [
      attemptRequest(leaver, 'exit-later', 1),
      attemptRequest(next, 'wait', 60_000),
    ])
    expect(await outcomeOf(leaver)).toMatchObject({ kind: 'succeeded' })
    expect(await outcomeOf(next)).toMatchObject({ kind: 'interrupted' })
    await expectWholePool()
  })
})

describe('a handler that fills the memory', () => {
  it('fails alone while others run on; the server lives (C136)', async () => {
    const hungry = start('fill-memory')
    const other = start('wait', 300)
    expect(await outcomeOf(hungry)).toMatchObject({
      kind: 'failed',
      error: {
        code: 'OUT_OF_MEMORY',
        message: expect.stringContaining('ERR_WORKER_OUT_OF_MEMORY') as string,
      },
    })
    expect(await outcomeOf(other)).toMatchObject({ kind: 'succeeded' })
    await expectWholePool()
  })
})

describe('a handler that never returns', () => {
  it('is stopped by force when it is cancelled; its thread is replaced (C058)', async () => {
    const id = start('loop')
    await began(id)
    harness.executor.stop(id, 100)
    expect(await outcomeOf(id)).toEqual({ kind: 'cancelled', stage: 'terminated' })
    await expectWholePool()
  })

  it('is stopped by force although it waits, and what was behind it in its burst goes back', async () => {
    const [deaf, behind] = [nextId++, nextId++]
    harness.executor.start('thread', [attemptRequest(deaf, 'deaf'), attemptRequest(behind, 'good')])
    await began(deaf)
    harness.executor.stop(deaf, 10)
    expect(await outcomeOf(deaf)).toEqual({ kind: 'cancelled', stage: 'terminated' })
    await harness.until(() => harness.events.has(`returned ${behind}`))
    await expectWholePool()
  })

  it('times out, and the main thread answers all the while (C072)', async () => {
    const id = start('loop', undefined, 300)
    let longest = 0
    let last = performance.now()
    while (!harness.events.haveEnded(id)) {
      await pause(10)
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }
    expect(await outcomeOf(id)).toEqual({ kind: 'timedOut', stage: 'terminated' })
    expect(longest).toBeLessThan(1_000)
    expect(durationUs(id)).toBeGreaterThanOrEqual(300_000)
  })

  it('hears of a stop when it asks its signal, although it never awaits', async () => {
    const id = start('polite-loop')
    await began(id)
    harness.executor.stop(id, 10_000)
    expect(await outcomeOf(id)).toEqual({ kind: 'cancelled', stage: 'cooperative' })
  })

  it('does not hide that others of its burst have ended before it', async () => {
    const [first, second] = [nextId++, nextId++]
    harness.executor.start('thread', [attemptRequest(first, 'good', 1), attemptRequest(second, 'loop')])
    expect(await outcomeOf(first)).toMatchObject({ kind: 'succeeded' })
    expect(harness.events.haveEnded(second)).toBe(false)
    harness.executor.stop(second, 10)
    await outcomeOf(second)
  })

  it('in a native call is told as ended only when it is really gone', async () => {
    const rounds = 400_000
    const undisturbed = start('native', rounds)
    await outcomeOf(undisturbed)
    const stopped = start('native', rounds)
    await began(stopped)
    harness.executor.stop(stopped, 0)
    expect(await outcomeOf(stopped)).toEqual({ kind: 'cancelled', stage: 'terminated' })
    expect(durationUs(stopped)).toBeGreaterThan(durationUs(undisturbed) / 4)
    await expectWholePool()
  })
})

describe('of four attempts on two threads', () => {
  it('only the cancelled one is cancelled (C060)', async () => {
    const [a, b, c, d] = [nextId++, nextId++, nextId++, nextId++]
    harness.executor.start('thread', [attemptRequest(a, 'wait', 200), attemptRequest(b, 'wait', 200)])
    harness.executor.start('thread', [attemptRequest(c, 'wait', 200), attemptRequest(d, 'wait', 200)])
    await began(a, c)
    harness.executor.stop(a, 1_000)
    expect(await outcomeOf(a)).toMatchObject({ kind: 'cancelled' })
    for (const id of [b, c, d]) expect(await outcomeOf(id)).toMatchObject({ kind: 'succeeded' })
  })
})

describe('whatever a handler throws', () => {
  it.each([
    ['text', 'boom'],
    ['undefined', 'undefined'],
    ['null', 'null'],
    ['number', '42'],
    ['object', 'a: 1'],
    ['circular', 'self'],
    ['unreadable', 'cannot be read'],
  ])('fails it with a text that a person can read: %s (C074)', async (what, text) => {
    const outcome = await outcomeOf(start('throw', what))
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'HANDLER_ERROR' } })
    expect(outcome.kind === 'failed' && outcome.error.message).toContain(text)
  })
})

describe('a deep output', () => {
  it('is kept to 30 levels; deeper ones fail, and the thread lives (C132)', async () => {
    expect(await outcomeOf(start('deep', 30))).toMatchObject({ kind: 'succeeded' })
    for (const levels of [31, 50, 101, 200, 20_000])
      expect(await outcomeOf(start('deep', levels))).toMatchObject({
        kind: 'failed',
        error: { code: 'OUTPUT_NOT_STORABLE', message: expect.stringContaining('nested deeper') as string },
      })
    await expectWholePool()
  })
})

describe('an error that a handler left behind', () => {
  it.each(['leave-timer', 'leave-rejection'])(
    'fails nobody else: %s; the thread is replaced',
    async (handler) => {
      harness.lines.length = 0
      const [leaver, next] = [nextId++, nextId++]
      harness.executor.start('thread', [attemptRequest(leaver, handler), attemptRequest(next, 'wait', 100)])
      expect(await outcomeOf(leaver)).toMatchObject({ kind: 'succeeded' })
      // It had begun, or it goes back: whether the error came before is a matter of milliseconds.
      await harness.until(() => harness.events.haveEnded(next) || harness.events.has(`returned ${next}`))
      expect(harness.events.ends.get(next)?.outcome.kind ?? 'succeeded').toBe('succeeded')
      await harness.until(() => harness.lines.some(({ message }) => message.includes('left an error behind')))
      expect(harness.lines.map(({ facts }) => facts['error']).join()).toContain('a stray')
      await expectWholePool()
    },
  )

  it('fails its own attempt while that is waited for', async () => {
    expect(await outcomeOf(start('own-timer'))).toMatchObject({
      kind: 'failed',
      error: { name: 'TypeError', message: 'from its own timer' },
    })
    await expectWholePool()
  })
})

describe('what handlers see and say', () => {
  it('of the environment only what was allowed', async () => {
    const outcome = await outcomeOf(start('environment'))
    expect(outcome).toEqual({ kind: 'succeeded', output: { kind: 'json', text: '{"GREETING":"hello"}' } })
  })

  it('globals of earlier attempts on the same thread: threads are reused, as defineHandler says (C140)', async () => {
    const ids = [nextId++, nextId++]
    harness.executor.start(
      'thread',
      ids.map((id) => attemptRequest(id, 'remember', `secret of ${id}`)),
    )
    expect(await outcomeOf(ids[1] ?? 0)).toMatchObject({ output: { text: `"secret of ${ids[0]}"` } })
  })

  it('comes into the log with its task, and cannot forge lines', async () => {
    harness.lines.length = 0
    const id = start('print')
    await outcomeOf(id)
    const own = harness.lines.filter(({ facts }) => facts['taskId'] === `task-${id}`)
    expect(own.map(({ level, message }) => [level, message])).toEqual([
      ['info', 'printed 1'],
      ['warn', 'to stderr\\u001b[2J\\nforged'],
      ['warn', 'logged'],
    ])
    expect(own[2]?.facts).toMatchObject({
      count: 2,
      nested: '{ big: 10n }',
      bad: 'Symbol(s)',
      handler: 'print',
    })
  })

  it('is cut when it is a flood', async () => {
    harness.lines.length = 0
    await outcomeOf(start('flood'))
    const own = harness.lines.filter(({ facts }) => facts['handler'] === 'flood')
    expect(own.length).toBeGreaterThan(0)
    expect(own.length).toBeLessThan(5_000)
    expect(own[0]?.message.length).toBeLessThan(3_000)
  })
})
