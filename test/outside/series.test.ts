import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type SchedulerClient, type TaskResult } from 'punctual'
import { describe, expect, it } from 'vitest'
import { ServerProcess } from './server-process.js'

const SECOND = 1_000

async function resultsOf(client: SchedulerClient, taskId: string): Promise<readonly TaskResult[]> {
  const results: TaskResult[] = []
  const filter = { taskIds: [taskId] }
  for await (const result of client.results({ filter, from: 'earliest', untilCaughtUp: true }))
    results.push(result)
  return results
}

const startsOf = (results: readonly TaskResult[]): number[] =>
  results.flatMap(({ startTime }) => (startTime ? [startTime.getTime()] : []))

describe('series on a real server', () => {
  it('C043, C045, C049, C050, C052, C148: keep their rhythm, one run at a time, until they are cancelled', async () => {
    await using server = await ServerProcess.start()
    await using client = createClient({ address: server.address })
    await client.schedule('sleep', { ms: 3_500 }, { id: 'long', recurrence: { everyMs: SECOND } })
    await client.schedule('sleep', { ms: 300 }, { id: 'grid', recurrence: { everyMs: SECOND } })
    await client.schedule('echo', 1, { id: 'cancelled', recurrence: { everyMs: 3 * SECOND } })
    for (let i = 0; i < 5; i++) {
      await using other = createClient({ address: server.address })
      await other.schedule('echo', 1, { id: 'again', recurrence: { everyMs: 2 * SECOND } })
    }
    await sleep(2 * SECOND)
    await client.cancel('cancelled')
    const atCancel = (await resultsOf(client, 'cancelled')).length
    await sleep(12 * SECOND)

    const long = await resultsOf(client, 'long')
    const ran = long.filter(({ startTime }) => startTime)
    const gaps = ran
      .slice(1)
      .map(({ startTime }, i) => (startTime?.getTime() ?? 0) - (ran[i]?.endTime.getTime() ?? 0))
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0)
    expect(ran.length).toBeGreaterThanOrEqual(2)
    expect(long.some(({ outcome }) => outcome === 'skipped')).toBe(true)

    const grid = (await resultsOf(client, 'grid')).filter(({ outcome }) => outcome === 'succeeded')
    const [first] = grid
    for (const { dueTime } of grid) {
      expect((dueTime.getTime() - (first?.dueTime.getTime() ?? 0)) % SECOND).toBe(0)
    }
    expect(grid.length).toBeGreaterThanOrEqual(5)

    const again = startsOf(await resultsOf(client, 'again'))
    expect(again.length).toBeGreaterThanOrEqual(5)
    expect(again.length).toBeLessThanOrEqual(9)

    const cancelled = await resultsOf(client, 'cancelled')
    expect(cancelled).toHaveLength(atCancel)
    expect(cancelled.at(-1)).toMatchObject({ outcome: 'cancelled', last: true })
    expect((await client.get('cancelled')).task.state).toBe('cancelled')
  })

  it('C047, C055: a restart postpones no run, and missed slots make one catch-up run', async () => {
    await using server = await ServerProcess.start()
    await using client = createClient({ address: server.address })
    await client.schedule('echo', 1, { id: 'often', recurrence: { everyMs: 2 * SECOND } })
    const later = await client.schedule('echo', 1, {
      id: 'later',
      delayMs: 14 * SECOND,
      recurrence: { everyMs: 60 * SECOND },
    })
    const shown = (await client.get('later')).task.nextDueTime
    expect(shown).toEqual(later.dueTime)
    await sleep(3 * SECOND)
    await server.stop('SIGKILL')
    await sleep(9 * SECOND)
    await server.start()
    const backAt = Date.now()
    await sleep(8 * SECOND)
    const often = await resultsOf(client, 'often')
    const missed = often.filter((result) => result.outcome === 'skipped' && result.skipReason === 'missed')
    expect(missed).toHaveLength(1)
    const [start] = startsOf(await resultsOf(client, 'later'))
    expect(start).toBeGreaterThanOrEqual(shown?.getTime() ?? Infinity)
    // as soon as it was due, or the server was there again
    const promised = Math.max(backAt, shown?.getTime() ?? 0)
    expect((start ?? Infinity) - promised).toBeLessThan(5 * SECOND)
  })

  it('C054: an interval of nothing, or of less than 100 ms, is refused', async () => {
    await using server = await ServerProcess.start()
    await using client = createClient({ address: server.address })
    for (const everyMs of [0, 1, 99]) {
      await expect(client.schedule('echo', 1, { recurrence: { everyMs } })).rejects.toMatchObject({
        reason: 'INVALID_TASK',
      })
    }
  })
})
