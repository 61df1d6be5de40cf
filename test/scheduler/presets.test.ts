import { describe, expect, it } from 'vitest'
import { PRESETS, type PresetName } from '../../server/scheduler/presets.js'
import { exactTimer, ticker } from '../../server/scheduler/wake-policy.js'
import { SchedulerWorld } from '../support/scheduler-world.js'
import type { GivenSpec } from '../support/task-specs.js'
import { type Promises, presetContract } from './preset-contract.js'

const after = (delayMs: number): GivenSpec => ({ when: { kind: 'after', delayMs } })

/** What each design can keep; docs/schedulers.md tells it in words. */
const PROMISES: Readonly<Record<PresetName, Promises>> = {
  'dynamic-sleep': { lateMs: 0, thread: 1, shared: 1, atOnce: 1, idleWakes: 0 },
  polling: { lateMs: 100, thread: 4, shared: 1_000, atOnce: 1_004, idleWakes: 600 },
  'worker-pool': { lateMs: 100, thread: 4, shared: 1_100, atOnce: 1_104, idleWakes: 600 },
  heap: { lateMs: 0, thread: 4, shared: 1_100, atOnce: 1_104, idleWakes: 0 },
}

for (const name of Object.keys(PROMISES) as PresetName[]) presetContract(name, PROMISES[name])

describe('wake policies', () => {
  it('exactTimer wakes when the next task is due, or at once', () => {
    expect([exactTimer(100, 150), exactTimer(100, 50), exactTimer(100, Infinity)]).toEqual([
      150,
      100,
      Infinity,
    ])
  })

  it('a ticker wakes on full multiples, whatever is due', () => {
    const tick = ticker(100)
    expect([tick(0, 5), tick(99, 5), tick(100, 5), tick(101, Infinity)]).toEqual([100, 100, 200, 200])
  })

  it('a freed slot takes what was due at the last look, and a ticker stays a ticker', async () => {
    const world = await SchedulerWorld.start({
      slots: { thread: 1 },
      handlers: { work: (_, { sleep }) => sleep(30) },
      scheduler: { preset: PRESETS.polling },
    })
    await world.clock.advance(50)
    const begin = world.clock.now()
    await world.scheduleAll([after(10), after(20), after(55), after(110)])
    await world.clock.advance(1_000)
    expect(world.starts.map(({ at }) => at - begin)).toEqual([50, 80, 150, 180])
  })
})
