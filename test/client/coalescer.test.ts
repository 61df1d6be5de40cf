import { describe, expect, it } from 'vitest'
import { type CallScope, CallScopes } from '../../client/call-scope.js'
import { Coalescer } from '../../client/coalescer.js'
import { PunctualError, ServerFullError, TaskRejectedError, UnavailableError } from '../../client/errors.js'
import { ScheduleRequest } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { TaskSpec } from '../../proto/generated/punctual/v1/task.js'
import { ManualClock } from '../support/manual-clock.js'

const DEADLINE_MS = 10_000
const MIB = 1024 * 1024

interface SentBatch {
  readonly ids: string[]
  readonly deadlineMs: number
  readonly scope: CallScope
  answer(answers?: readonly (string | PunctualError)[]): void
  fail(error: Error): void
}

describe('calls that are made close together', () => {
  it('alone is sent at once', async () => {
    const { add, batch } = start()
    const answer = add('a')
    const first = await batch(1)
    expect(first.ids).toEqual(['a'])
    first.answer()
    expect(await answer).toBe('a stored')
  })

  it('in one turn travel together, in order, each with its own answer', async () => {
    const { add, batch } = start()
    const answers = ['a', 'b', 'c'].map((id) => add(id))
    const first = await batch(1)
    expect(first.ids).toEqual(['a', 'b', 'c'])
    first.answer()
    expect(await Promise.all(answers)).toEqual(['a stored', 'b stored', 'c stored'])
  })

  it('gather while one batch is under way, and leave together when it has been answered', async () => {
    const { add, batch, batches } = start()
    const answers = [add('a')]
    const first = await batch(1)
    answers.push(add('b'), add('c'))
    await settled()
    expect(batches).toHaveLength(1)
    first.answer()
    const second = await batch(2)
    expect(second.ids).toEqual(['b', 'c'])
    second.answer()
    await Promise.all(answers)
  })

  it('are cut at 10,000 tasks', async () => {
    const { add, batch } = start()
    const answers = Array.from({ length: 10_001 }, (_, index) => add(`${index}`))
    const first = await batch(1)
    expect(first.ids).toHaveLength(10_000)
    first.answer()
    const second = await batch(2)
    expect(second.ids).toEqual(['10000'])
    second.answer()
    expect(await Promise.all(answers)).toHaveLength(10_001)
  })

  it('are cut below 4 MiB, but one that is larger by itself still goes', async () => {
    const { add, batch } = start()
    const sizes = [1.5, 1.5, 1.5, 5, 0.1]
    const answers = sizes.map((size, index) => add(`${index}`, { json: 'x'.repeat(size * MIB) }))
    for (const [n, ids] of [['0', '1'], ['2'], ['3'], ['4']].entries()) {
      const sent = await batch(n + 1)
      expect(sent.ids).toEqual(ids)
      sent.answer()
    }
    await Promise.all(answers)
  })

  it('fail one by one: a bad task spoils no other', async () => {
    const { add, batch } = start()
    const answers = ['good', 'bad', 'fine'].map((id) => add(id))
    const rejected = new TaskRejectedError({ message: 'no' })
    ;(await batch(1)).answer(['good stored', rejected, 'fine stored'])
    expect(await Promise.allSettled(answers)).toEqual([
      { status: 'fulfilled', value: 'good stored' },
      { status: 'rejected', reason: rejected },
      { status: 'fulfilled', value: 'fine stored' },
    ])
  })
})

describe('a batch that fails for now', () => {
  it('is sent again with the same ids after a back-off, before those that came later', async () => {
    const { add, batch, batches, clock } = start()
    const answers = [add('a'), add('b')]
    ;(await batch(1)).fail(unavailable())
    answers.push(add('c'))
    await clock.timer((ms) => ms < 1_000)
    expect(batches).toHaveLength(1)
    clock.advance(50)
    const second = await batch(2)
    expect(second.ids).toEqual(['a', 'b', 'c'])
    second.answer()
    expect(await Promise.all(answers)).toEqual(['a stored', 'b stored', 'c stored'])
  })

  it('waits as long as the server asks', async () => {
    const { add, batch, batches, clock } = start()
    const answer = add('a')
    ;(await batch(1)).fail(full(3_000))
    await clock.timer((ms) => ms === 3_000)
    clock.advance(2_999)
    await settled()
    expect(batches).toHaveLength(1)
    clock.advance(1)
    ;(await batch(2)).answer()
    expect(await answer).toBe('a stored')
  })

  it('sends again only what failed', async () => {
    const { add, batch, clock } = start()
    const answers = ['a', 'b', 'c'].map((id) => add(id))
    ;(await batch(1)).answer(['a stored', full(100), 'c stored'])
    await clock.timer((ms) => ms === 100)
    clock.advance(100)
    const second = await batch(2)
    expect(second.ids).toEqual(['b'])
    second.answer()
    await Promise.all(answers)
  })

  it('backs off twice as long each time, from half to the whole of 2 s at most', async () => {
    const { add, batch, clock } = start({ deadlineMs: 60_000 })
    const answer = add('a')
    for (const [n, waitMs] of [50, 100, 200, 400, 800, 1_600, 2_000, 2_000].entries()) {
      ;(await batch(n + 1)).fail(unavailable())
      await clock.timer((ms) => ms === waitMs)
      clock.advance(waitMs)
    }
    ;(await batch(9)).answer()
    expect(await answer).toBe('a stored')
  })

  it('tells the last error when no time is left for another try, not "deadline exceeded"', async () => {
    const { add, batch } = start({ deadlineMs: 1_000 })
    const answer = add('a')
    const error = full(1_000)
    ;(await batch(1)).fail(error)
    await expect(answer).rejects.toBe(error)
  })

  it('is not sent again for an error that is for good', async () => {
    const { add, batch, batches } = start()
    const answer = add('a')
    const error = new PunctualError({ code: 'INTERNAL', message: 'a fault' })
    ;(await batch(1)).fail(error)
    await expect(answer).rejects.toBe(error)
    expect(batches).toHaveLength(1)
  })

  it('lets later calls go at once when nobody waits for the failed ones any more', async () => {
    const { add, batch, clock } = start()
    const stop = new AbortController()
    const given = add('a', { signal: stop.signal })
    ;(await batch(1)).fail(full(5_000))
    await clock.timer((ms) => ms === 5_000)
    const late = add('b')
    stop.abort()
    await expect(given).rejects.toThrow('aborted')
    const second = await batch(2)
    expect(second.ids).toEqual(['b'])
    second.answer()
    await late
  })
})

describe('each call of a batch', () => {
  it('has its own deadline, and the batch that of the latest', async () => {
    const { add, batch, clock } = start()
    const [short, long] = [add('a', { deadlineMs: 1_000 }), add('b', { deadlineMs: 5_000 })]
    const first = await batch(1)
    expect(first.deadlineMs).toBe(5_000)
    clock.advance(1_000)
    await expect(short).rejects.toThrow("no answer within 1000 ms: the task 'a' may be stored")
    first.answer()
    expect(await long).toBe('b stored')
  })

  it('that is late while it waits leaves the batch, and nothing of it is stored', async () => {
    const { add, batch, clock } = start()
    const first = add('a')
    const sent = await batch(1)
    const late = add('b', { deadlineMs: 100 })
    const next = add('c')
    clock.advance(100)
    await expect(late).rejects.toThrow('nothing is stored')
    sent.answer()
    const second = await batch(2)
    expect(second.ids).toEqual(['c'])
    second.answer()
    await Promise.all([first, next])
  })

  it('that is aborted while it waits leaves the batch', async () => {
    const { add, batch } = start()
    const stop = new AbortController()
    const first = add('a')
    const sent = await batch(1)
    const aborted = add('b', { signal: stop.signal })
    stop.abort()
    await expect(aborted).rejects.toMatchObject({
      name: 'AbortError',
      message: 'the call was aborted by its signal',
    })
    sent.answer()
    await first
  })

  it('that is aborted after it was sent says that it may be stored; the others go on', async () => {
    const { add, batch } = start()
    const stop = new AbortController()
    const [aborted, other] = [add('a', { signal: stop.signal }), add('b')]
    const sent = await batch(1)
    stop.abort(new Error('enough'))
    await expect(aborted).rejects.toMatchObject({
      name: 'AbortError',
      message: "aborted by its signal after it was sent: the task 'a' may be stored",
      cause: new Error('enough'),
    })
    sent.answer()
    expect(await other).toBe('b stored')
  })

  it('may leave: when all have, the call itself is ended', async () => {
    const { add, batch } = start()
    const stop = new AbortController()
    const answers = [add('a', { signal: stop.signal }), add('b', { signal: stop.signal })]
    const sent = await batch(1)
    let ended = false
    sent.scope.onEnd(() => {
      ended = true
    })
    stop.abort()
    await Promise.allSettled(answers)
    expect(ended).toBe(true)
  })

  it('leaves nothing behind', async () => {
    const { add, batch, scopes, clock } = start()
    const answers = ['a', 'b'].map((id) => add(id))
    ;(await batch(1)).answer()
    await Promise.all(answers)
    expect(scopes.size).toBe(0)
    expect(clock.delays).toEqual([])
  })
})

function start({ deadlineMs = DEADLINE_MS } = {}) {
  const clock = new ManualClock()
  const scopes = new CallScopes()
  const batches: SentBatch[] = []
  const watchers: (() => void)[] = []
  const coalescer = new Coalescer<string>(
    (requests, ms, scope) =>
      scope.step((resolve, reject) => {
        const ids = requests.map(({ task }) => task?.id ?? '')
        batches.push({
          ids,
          deadlineMs: ms,
          scope,
          answer: (answers = ids.map((id) => `${id} stored`)) => resolve(answers),
          fail: reject,
        })
        for (const watcher of watchers.splice(0)) watcher()
        return () => {}
      }),
    scopes,
    // the upper end of the back-off
    { clock, random: () => 1, mayRetry: () => true },
  )
  const add = (id: string, options: { deadlineMs?: number; signal?: AbortSignal; json?: string } = {}) => {
    const task = TaskSpec.create({ id, handler: 'echo' })
    if (options.json !== undefined) task.payload = { $case: 'inputJson', value: options.json }
    const request = ScheduleRequest.create({})
    request.task = task
    return coalescer.add(request, options.deadlineMs ?? deadlineMs, options.signal)
  }
  const batch = async (n: number): Promise<SentBatch> => {
    for (;;) {
      const sent = batches[n - 1]
      if (sent !== undefined) return sent
      await new Promise<void>((resolve) => watchers.push(resolve))
    }
  }
  return { clock, scopes, batches, add, batch }
}

const unavailable = () => new UnavailableError({ code: 'UNAVAILABLE', message: 'connection refused' })
const full = (retryAfterMs: number) =>
  new ServerFullError({
    code: 'RESOURCE_EXHAUSTED',
    reason: 'TOO_MANY_TASKS',
    message: 'too many tasks wait',
    retryAfterMs,
  })

/** Everything that could happen without time or input has happened. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
