import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomRuns } from '../task/recurrence/rules.js'
import { Crowd } from './crowd.js'
import { scenarios } from './scenario.js'
import { Simulation } from './simulation.js'

// A failure prints its seed and path; FC_SEED=… FC_PATH=… npx vitest run test/simulation/simulation.test.ts replays it.
describe('whatever happens: tasks of every kind, cancels, pauses, RunNow, REPLACE, retries, stops, crashes, clock steps, nights of clock changes', () => {
  it('each task runs when the model says, and GetTask had said when', async () => {
    const property = fc.asyncProperty(scenarios, async (scenario) => {
      const { seen, expected, surprises } = await new Simulation(scenario).run()
      expect(seen).toEqual(expected)
      expect(surprises).toEqual([])
    })
    await fc.assert(property, randomRuns(150))
  }, 120_000)

  it('no slot is lost or told twice where slots, memory and time are short; nothing runs early, too near, or beside itself', async () => {
    const property = fc.asyncProperty(scenarios, fc.constantFrom(0, 7), async (scenario, commitMs) => {
      const crowd = new Crowd(scenario, commitMs)
      await crowd.run(scenario)
      expect(crowd.faults).toEqual([])
    })
    await fc.assert(property, randomRuns(50))
  }, 120_000)
})
