import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MAX_BURST } from '../../server/executor/executor.js'
import { attemptRequest } from '../executor/attempt-request.js'
import { openThreads, type ThreadHarness } from './thread-harness.js'

let harness: ThreadHarness
let nextId = 1
beforeAll(async () => {
  harness = await openThreads(new URL('../executor/contract-handlers.ts', import.meta.url))
})
afterAll(() => harness.executor.close())

const told = (what: 'began' | 'ended') =>
  harness.events.told.filter((line) => line.startsWith(`${what} `)).map((line) => Number(line.split(' ')[1]))

const idsOf = (count: number) => Array.from({ length: count }, () => nextId++)

it('50,000 attempts in bursts begin in the order in which they were given, and end once each (C139)', async () => {
  const { executor, events } = harness
  const given: number[] = []
  for (let burst = 0; burst < 49; burst++) {
    const ids = idsOf(MAX_BURST)
    executor.start(
      'thread',
      ids.map((id) => attemptRequest(id, 'echo', id)),
    )
    await harness.until(() => events.haveEnded(...ids))
    given.push(...ids)
    expect(ids.every((id) => events.outcome(id).kind === 'succeeded')).toBe(true)
  }
  expect(told('began')).toEqual(given)
  // an end may be told by message or through shared memory: which of two comes first is left open
  expect(told('ended').toSorted((a, b) => a - b)).toEqual(given)
})

it('a burst has its limit, and a slot that is not free is no place to wait', async () => {
  const { executor, events } = harness
  const request = () => attemptRequest(nextId++, 'deaf')
  expect(() => executor.start('thread', Array.from({ length: MAX_BURST + 1 }, request))).toThrow(
    'at most 1024',
  )
  const alone = [request(), { ...request(), alone: true }]
  expect(() => executor.start('thread', alone)).toThrow('in quarantine')
  const [one, two] = [request(), request()]
  executor.start('thread', [one])
  executor.start('thread', [two])
  expect(() => executor.start('thread', [request()])).toThrow('no slot of lane thread is free')
  executor.stop(one.startId, 0)
  executor.stop(two.startId, 0)
  await harness.until(() => events.haveEnded(one.startId, two.startId))
})

it('stops at any moment: each attempt is told of as ended once, and one that never started never began', async () => {
  const { executor, events } = harness
  const moment = fc.integer({ min: 0, max: 8 })
  const member = fc.record({
    handler: fc.constantFrom('echo', 'soon', 'wait'),
    stopAfterTurns: fc.option(moment, { nil: undefined }),
    graceMs: fc.constantFrom(0, 5, 10_000),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(member, { minLength: 1, maxLength: 20 }), async (members) => {
      const attempts = members.map((one) => ({ ...one, id: nextId++ }))
      executor.start(
        'thread',
        attempts.map(({ id, handler }) => attemptRequest(id, handler, 3)),
      )
      for (let turn = 0; turn <= 8; turn++) {
        for (const { id, stopAfterTurns, graceMs } of attempts)
          if (stopAfterTurns === turn) executor.stop(id, graceMs)
        await new Promise((resolve) => setImmediate(resolve))
      }
      const isOver = (id: number) => events.haveEnded(id) || events.has(`returned ${id}`)
      await harness.until(() => attempts.every(({ id }) => isOver(id)))
      for (const { id, stopAfterTurns } of attempts) {
        expect(events.count(`ended ${id}`) + events.count(`returned ${id}`)).toBe(1)
        const stage = neverStarted(id)
        expect(events.count(`began ${id}`)).toBe(stage || events.has(`returned ${id}`) ? 0 : 1)
        expect(stopAfterTurns === undefined && stage).toBe(false)
      }
    }),
    { numRuns: 60 },
  )
})

function neverStarted(id: number): boolean {
  const outcome = harness.events.ends.get(id)?.outcome
  return outcome?.kind === 'cancelled' && outcome.stage === 'neverStarted'
}
