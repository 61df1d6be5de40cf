import { describe, expect, it } from 'vitest'
import { Position, ScheduleRequest } from '../../proto/generated/punctual/v1/scheduler_service.js'
import type { TaskStore } from '../../server/store/task-store.js'
import { aTask } from './requests.js'
import { failureOf, rpc, TestServer } from './test-server.js'

const HOUR_MS = 3_600_000
const EARLIEST = { $case: 'position' as const, value: Position.EARLIEST }
const afterCursor = (value: string) => ({ $case: 'afterCursor' as const, value })

/** A server whose results of the first two hours go when `remove` is called: a, b, then c, d. */
async function world() {
  let store: TaskStore | undefined
  const test = await TestServer.start({ store: (own) => (store = own) })
  const run = async (bytes: number, ...ids: string[]): Promise<void> => {
    const payload = { $case: 'inputJson' as const, value: JSON.stringify('x'.repeat(bytes)) }
    const requests = ids.map((id) =>
      ScheduleRequest.create({ task: aTask({ id, handler: 'echo', payload }) }),
    )
    await test.call(rpc.scheduleBatch, { requests })
    await test.clock.advance(0)
  }
  /** Removes what is older than an hour. */
  const remove = async (): Promise<void> => {
    const now = test.clock.now()
    const before = now - HOUR_MS
    await store?.purge({
      now,
      before: {
        succeeded: before,
        failed: before,
        timedOut: before,
        cancelled: before,
        expired: before,
        skipped: before,
      },
      maxBytes: 1e12,
      keepAfter: Number.MAX_SAFE_INTEGER,
      maxEntries: 10_000,
    })
  }
  return { test, run, remove }
}

describe('a cursor of results that are no longer kept', () => {
  it('is refused with the earliest, never answered by a stream that begins elsewhere (C106)', async () => {
    const { test, run, remove } = await world()
    const old = (await test.stream().next())?.cursor ?? ''
    await run(10, 'a', 'b')
    await test.clock.advance(2 * HOUR_MS)
    await run(10, 'c', 'd')
    await remove()
    const failure = await failureOf(test.stream({ start: afterCursor(old) }).next())
    expect(failure).toMatchObject({ code: 'OUT_OF_RANGE', reason: 'CURSOR_EXPIRED' })
    const { earliest_cursor: earliest = '' } = failure.facts
    for (const start of [afterCursor(earliest), EARLIEST])
      expect(await test.stream({ start, stopWhenCaughtUp: true }).idsUntilEnd()).toEqual(['c', 'd'])
  })

  it('ends a stream that is overtaken with OUT_OF_RANGE: it never skips', async () => {
    const { test, run, remove } = await world()
    // more than what is in memory and in the sockets
    for (let batch = 0; batch < 15; batch++) await run(800_000, `a${batch}`, `b${batch}`, `c${batch}`)
    const stream = test.stream({ start: EARLIEST })
    await stream.next()
    stream.call.pause()
    await test.clock.advance(2 * HOUR_MS)
    await remove()
    stream.call.resume()
    const ids: string[] = []
    const reading = async (): Promise<void> => {
      for (let message = await stream.next(); message; message = await stream.next())
        ids.push(...message.results.map(({ taskId }) => taskId))
    }
    expect(await failureOf(reading())).toMatchObject({ code: 'OUT_OF_RANGE', reason: 'CURSOR_EXPIRED' })
    const all = Array.from({ length: 15 }, (_, batch) => [`a${batch}`, `b${batch}`, `c${batch}`]).flat()
    expect(ids).toEqual(all.slice(0, ids.length))
    expect(ids.length).toBeLessThan(all.length)
  })

  it('is that of a consumer: it is told, and goes on when it acknowledges the loss', async () => {
    const { test, run, remove } = await world()
    const stream = test.stream({ consumer: 'billing' })
    await stream.next()
    stream.call.cancel()
    await run(10, 'a', 'b')
    await test.clock.advance(2 * HOUR_MS)
    await run(10, 'c', 'd')
    await remove()
    const failure = await failureOf(test.stream({ consumer: 'billing' }).next())
    expect(failure).toMatchObject({ code: 'OUT_OF_RANGE', reason: 'CURSOR_EXPIRED' })
    expect(failure.message).toContain("'billing'")
    const cursor = failure.facts['earliest_cursor'] ?? ''
    await test.call(rpc.ackResults, { consumer: 'billing', cursor })
    const again = test.stream({ consumer: 'billing', stopWhenCaughtUp: true })
    expect(await again.idsUntilEnd()).toEqual(['c', 'd'])
  })
})
