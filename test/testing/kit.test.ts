import { defineHandler } from 'punctual/handlers'
import { startTestServer } from 'punctual/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const handlers = [
  defineHandler({ name: 'report', run: () => ({ sent: true }) }),
  defineHandler({
    name: 'work',
    input: z.object({ ms: z.number() }),
    run: async ({ ms }, context) => {
      await context.sleep(ms)
      return { worked: ms }
    },
  }),
  defineHandler({ name: 'endless', run: () => new Promise<void>(() => {}) }),
] as const

async function serverAt(startTime: string, threads = 2) {
  const server = await startTestServer({ handlers, startTime: new Date(startTime), threads })
  onTestFinished(() => server.close())
  return server
}

/** Time of day in Berlin, such as 02:30. */
const inBerlin = (instant: Date): string =>
  instant.toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin', hour: '2-digit', minute: '2-digit' })

describe('a server on virtual time', () => {
  test('a year of a cron rule: one run a day, on the nights of the clock changes too', async () => {
    const server = await serverAt('2027-01-01T00:00:00Z')
    await server.client.schedule(
      'report',
      {},
      { id: 'nightly', recurrence: { cron: '30 2 * * *', timeZone: 'Europe/Berlin' } },
    )
    await server.advance(365 * DAY)

    const results = await server.results()
    expect(results).toHaveLength(365)
    expect(results.every((result) => result.outcome === 'succeeded' && result.latenessMs === 0)).toBe(true)
    const odd = results.filter(({ dueTime }) => inBerlin(dueTime) !== '02:30')
    // in March 02:30 does not exist; in October it comes twice and the first one counts
    expect(odd.map(({ dueTime }) => dueTime.toISOString())).toEqual(['2027-03-28T01:30:00.000Z'])
    const october = results.filter(({ dueTime }) => dueTime.toISOString().startsWith('2027-10-31'))
    expect(october.map(({ dueTime }) => dueTime.toISOString())).toEqual(['2027-10-31T00:30:00.000Z'])
  })

  test('nothing happens before time is told to pass', async () => {
    const server = await serverAt('2027-01-01T00:00:00Z')
    const task = await server.client.schedule('report', {}, { delayMs: 1_000 })
    await server.advance(999)
    expect(await task.state()).toBe('scheduled')
    await server.advance(1)
    expect(await task.state()).toBe('succeeded')
    expect(server.now()).toEqual(new Date('2027-01-01T00:00:01Z'))
  })

  test('handlers sleep in virtual time, as many at once as there are threads', async () => {
    const server = await serverAt('2027-01-01T00:00:00Z', 2)
    for (const id of ['a', 'b', 'c']) await server.client.schedule('work', { ms: HOUR }, { id })
    await server.advance(HOUR)
    expect((await server.results()).map(({ taskId }) => taskId)).toEqual(['a', 'b'])
    await server.advance(HOUR)
    const results = await server.results({ handlers: ['work'] })
    expect(results.map(({ workerId, durationMs }) => ({ workerId, durationMs }))).toEqual([
      { workerId: 'thread-1', durationMs: HOUR },
      { workerId: 'thread-2', durationMs: HOUR },
      { workerId: 'thread-1', durationMs: HOUR },
    ])
  })

  test('a result can be awaited while time passes, and its output has its type', async () => {
    const server = await serverAt('2027-01-01T00:00:00Z')
    const task = await server.client.schedule('work', { ms: 5_000 })
    const result = task.result()
    await server.advanceTo(new Date('2027-01-01T00:00:05Z'))
    const { output } = await result
    expect(output.worked).toBe(5_000)
  })

  test('the clock can be set, as on a machine that was asleep', async () => {
    const server = await serverAt('2027-01-01T00:00:00Z')
    await server.client.schedule('report', {}, { recurrence: { everyMs: HOUR }, delayMs: HOUR })
    await server.stepClock(10 * HOUR)
    await server.advance(0)
    const results = await server.results()
    expect(results.map(({ outcome }) => outcome)).toEqual(['skipped', 'succeeded'])
  })

  test('it closes although an attempt runs that never ends', async () => {
    const server = await serverAt('2027-01-01T00:00:00Z')
    await server.client.schedule('endless', {})
    await server.advance(1)
    await server.close()
    await expect(server.client.serverInfo()).rejects.toThrow('closed')
  })

  test('two handlers of one name are refused', async () => {
    const [report] = handlers
    await expect(startTestServer({ handlers: [report, report] })).rejects.toThrow("'report' is taken twice")
  })
})
