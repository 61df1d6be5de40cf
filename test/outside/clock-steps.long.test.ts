import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type SchedulerClient, type TaskResult } from 'punctual'
import { describe, expect, it } from 'vitest'
import { FakedClock } from './faked-clock.js'
import { ServerProcess } from './server-process.js'

const SECOND = 1_000
const HOUR = 3_600_000
/** The bound for noticing a step is 2 s; machines are busy. */
const NOTICED_MS = 6 * SECOND

const at = (time: string): number => Date.parse(`2030-01-01T${time}Z`)

async function withServer(
  startsAt: number,
  story: (world: { clock: FakedClock; server: ServerProcess; client: SchedulerClient }) => Promise<void>,
): Promise<void> {
  using clock = new FakedClock(startsAt)
  await using server = await ServerProcess.start([], clock.env)
  await using client = createClient({ address: server.address })
  await story({ clock, server, client })
}

async function resultsOf(client: SchedulerClient, taskId: string): Promise<readonly TaskResult[]> {
  const results: TaskResult[] = []
  const filter = { taskIds: [taskId] }
  for await (const result of client.results({ filter, from: 'earliest', untilCaughtUp: true }))
    results.push(result)
  return results
}

const runs = (results: readonly TaskResult[]): readonly TaskResult[] =>
  results.filter(({ outcome }) => outcome === 'succeeded')

describe('the wall clock of a real server is set', () => {
  it('C006: forward across a due time: the task runs within seconds, once', async () => {
    await withServer(at('12:00:00'), async ({ clock, client }) => {
      await client.schedule('echo', 1, { id: 'once', delayMs: 600 * SECOND })
      await sleep(2 * SECOND)
      clock.step(600 * SECOND)
      await sleep(NOTICED_MS)
      expect(runs(await resultsOf(client, 'once'))).toHaveLength(1)
    })
  })

  it('forward by hours: one catch-up run, the rest is one SKIPPED result', async () => {
    await withServer(at('12:00:00'), async ({ clock, client }) => {
      await client.schedule('echo', 1, { id: 'often', recurrence: { everyMs: 10 * SECOND } })
      await sleep(3 * SECOND)
      clock.step(3 * HOUR)
      await sleep(NOTICED_MS)
      const results = await resultsOf(client, 'often')
      const skipped = results.filter(({ outcome }) => outcome === 'skipped')
      expect(skipped).toHaveLength(1)
      expect(skipped[0]).toMatchObject({ skipReason: 'missed' })
      expect(runs(results).length).toBeGreaterThanOrEqual(2)
      expect(runs(results).length).toBeLessThanOrEqual(3)
    })
  })

  it('C009: back by minutes: an interval goes on within seconds, and no cron slot runs twice', async () => {
    await withServer(at('12:00:45'), async ({ clock, client }) => {
      await client.schedule('echo', 1, { id: 'interval', recurrence: { everyMs: 2 * SECOND } })
      await client.schedule('echo', 1, { id: 'minutes', recurrence: { cron: '* * * * *' } })
      await sleep(80 * SECOND)
      const before = runs(await resultsOf(client, 'interval')).length
      clock.step(-70 * SECOND)
      await sleep(NOTICED_MS)
      expect(runs(await resultsOf(client, 'interval')).length).toBeGreaterThan(before)
      await sleep(130 * SECOND - NOTICED_MS)
      const dues = runs(await resultsOf(client, 'minutes')).map(({ dueTime }) =>
        dueTime.toISOString().slice(11, 16),
      )
      expect(dues).toEqual(['12:01', '12:02', '12:03'])
    })
  })

  it('back by hours: intervals and delays do not wait for them', async () => {
    await withServer(at('12:00:00'), async ({ clock, client }) => {
      await client.schedule('echo', 1, { id: 'every', recurrence: { everyMs: 2 * SECOND } })
      await client.schedule('echo', 1, { id: 'after', recurrence: { delayAfterMs: 2 * SECOND } })
      await sleep(5 * SECOND)
      const before = await Promise.all(
        ['every', 'after'].map(async (id) => runs(await resultsOf(client, id)).length),
      )
      clock.step(-5 * HOUR)
      await sleep(2 * NOTICED_MS)
      const after = await Promise.all(
        ['every', 'after'].map(async (id) => runs(await resultsOf(client, id)).length),
      )
      for (const [i, count] of before.entries()) expect(after[i]).toBeGreaterThan(count + 1)
    })
  })

  it('back by hours while the server is down: that is noticed at the next start', async () => {
    await withServer(at('12:00:00'), async ({ clock, server, client }) => {
      await client.schedule('echo', 1, { id: 'every', recurrence: { everyMs: 2 * SECOND } })
      await sleep(5 * SECOND)
      await server.stop('SIGKILL')
      clock.step(-5 * HOUR)
      await server.start()
      const before = runs(await resultsOf(client, 'every')).length
      await sleep(2 * NOTICED_MS)
      expect(runs(await resultsOf(client, 'every')).length).toBeGreaterThan(before + 1)
      expect(server.log).toContain('set back while the server was down')
    })
  })
})
