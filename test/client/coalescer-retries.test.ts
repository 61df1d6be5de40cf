import { describe, expect, it } from 'vitest'
import { PunctualError } from '../../client/errors.js'
import { full, settled, startCoalescer, unavailable } from '../support/recorded-batches.js'

describe('a batch that fails for now', () => {
  it('is sent again with the same ids after a back-off, before those that came later', async () => {
    const { add, batch, batches, clock } = startCoalescer()
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
    const { add, batch, batches, clock } = startCoalescer()
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
    const { add, batch, clock } = startCoalescer()
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
    const { add, batch, clock } = startCoalescer({ deadlineMs: 60_000 })
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
    const { add, batch } = startCoalescer({ deadlineMs: 1_000 })
    const answer = add('a')
    const error = full(1_000)
    ;(await batch(1)).fail(error)
    await expect(answer).rejects.toBe(error)
  })

  it('is not sent again for an error that is for good', async () => {
    const { add, batch, batches } = startCoalescer()
    const answer = add('a')
    const error = new PunctualError({ code: 'INTERNAL', message: 'a fault' })
    ;(await batch(1)).fail(error)
    await expect(answer).rejects.toBe(error)
    expect(batches).toHaveLength(1)
  })

  it('lets later calls go at once when nobody waits for the failed ones any more', async () => {
    const { add, batch, clock } = startCoalescer()
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
