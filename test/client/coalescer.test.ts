import { describe, expect, it } from 'vitest'
import { TaskRejectedError } from '../../client/errors.js'
import { settled, startCoalescer } from '../support/recorded-batches.js'

const MIB = 1024 * 1024

describe('calls that are made close together', () => {
  it('alone is sent at once', async () => {
    const { add, batch } = startCoalescer()
    const answer = add('a')
    const first = await batch(1)
    expect(first.ids).toEqual(['a'])
    first.answer()
    expect(await answer).toBe('a stored')
  })

  it('in one turn travel together, in order, each with its own answer', async () => {
    const { add, batch } = startCoalescer()
    const answers = ['a', 'b', 'c'].map((id) => add(id))
    const first = await batch(1)
    expect(first.ids).toEqual(['a', 'b', 'c'])
    first.answer()
    expect(await Promise.all(answers)).toEqual(['a stored', 'b stored', 'c stored'])
  })

  it('gather while one batch is under way, and leave together when it has been answered', async () => {
    const { add, batch, batches } = startCoalescer()
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
    const { add, batch } = startCoalescer()
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
    const { add, batch } = startCoalescer()
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
    const { add, batch } = startCoalescer()
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

describe('each call of a batch', () => {
  it('has its own deadline, and the batch that of the latest', async () => {
    const { add, batch, clock } = startCoalescer()
    const [short, long] = [add('a', { deadlineMs: 1_000 }), add('b', { deadlineMs: 5_000 })]
    const first = await batch(1)
    expect(first.deadlineMs).toBe(5_000)
    clock.advance(1_000)
    await expect(short).rejects.toThrow("no answer within 1000 ms: the task 'a' may be stored")
    first.answer()
    expect(await long).toBe('b stored')
  })

  it('that is late while it waits leaves the batch, and nothing of it is stored', async () => {
    const { add, batch, clock } = startCoalescer()
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
    const { add, batch } = startCoalescer()
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
    const { add, batch } = startCoalescer()
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
    const { add, batch } = startCoalescer()
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
    const { add, batch, scopes, clock } = startCoalescer()
    const answers = ['a', 'b'].map((id) => add(id))
    ;(await batch(1)).answer()
    await Promise.all(answers)
    expect(scopes.size).toBe(0)
    expect(clock.delays).toEqual([])
  })
})
