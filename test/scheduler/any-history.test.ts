import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLive, type Task } from '../../server/task/task.js'
import { events, History } from '../support/history.js'

/** What is wrong with the end that a task came to. */
function faultsOf(history: History, { spec: { id, atMostOnce } }: Task): string[] {
  const { world, reopened, cancelled } = history
  const task = world.task(id)
  const results = world.results(id)
  const runs = results.map(({ run }) => run)
  const starts = world.startsOf(id).map(({ run }) => run)
  const isWrong = {
    'still lives': isLive(task.state),
    'has not one result for each run':
      runs.join() !== Array.from({ length: task.run }, (_, i) => i + 1).join(),
    'has more runs than asked for': !reopened.has(id) && runs.length > 1,
    'has no last result': results.at(-1)?.last !== true,
    'was cancelled, and ended otherwise': cancelled.has(id) && task.state !== 'cancelled',
    'was started twice at most once': atMostOnce && new Set(starts).size < starts.length,
  }
  return Object.entries(isWrong).flatMap(([fault, is]) => (is ? [`${id} ${fault}`] : []))
}

describe('whatever happens: tasks, cancels, pauses, crashes, stops, a store in trouble, clock steps', () => {
  it('each run has exactly one result; nothing runs beside itself or early; nothing is left over', async () => {
    await fc.assert(
      fc.asyncProperty(events, fc.constantFrom(0, 3), async (all, commitMs) => {
        const history = new History(commitMs)
        const { world, tasks } = history
        await world.start()
        for (const event of all) await history.happen(event)
        const resumed = world.scheduler.resume(tasks.map(({ spec }) => spec.id))
        await world.clock.advance(60_000)
        await resumed
        expect([...history.faults, ...tasks.flatMap((task) => faultsOf(history, task))]).toEqual([])
        expect(world.scheduler.snapshot()).toMatchObject({
          near: 0,
          lanes: [{ busy: 0 }, { lane: 'shared', busy: 0 }],
          storeAvailable: true,
        })
      }),
      { numRuns: Number(process.env['PUNCTUAL_RUNS'] ?? 200) },
    )
  }, 300_000)
})
