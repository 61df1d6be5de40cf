import { describe, expect, it } from 'vitest'
import { Statistics } from '../../server/stats/statistics.js'
import type { LatencySummary } from '../../server/stats/latency-window.js'
import type { TaskResult, Transition } from '../../server/task/result.js'
import { VirtualClock } from '../../testing/virtual-clock.js'
import { aResult } from '../results/entries.js'

const DUE = 1_800_000_000_000

function stored(statistics: Statistics, ...results: Partial<TaskResult>[]): void {
  const transition = { entries: results.map(aResult) } as unknown as Transition
  statistics.updated([transition], [{ kind: 'stored' }])
}
const late = (ms: number): Partial<TaskResult> => ({
  dueTime: DUE,
  startTimeUs: (DUE + ms) * 1_000,
  endTimeUs: (DUE + ms + 5) * 1_000,
})
const of = (summaries: LatencySummary[], period: string): LatencySummary | undefined =>
  summaries.find((summary) => summary.period === period)

describe('statistics', () => {
  it('count results by handler and outcome, once they are stored', () => {
    const statistics = new Statistics(new VirtualClock())
    stored(
      statistics,
      { handler: 'a' },
      { handler: 'a' },
      { handler: 'a', outcome: 'failed' },
      { handler: 'b', kind: 'attempt' },
    )
    const transition = { entries: [aResult()] } as unknown as Transition
    statistics.updated([transition], [{ kind: 'refused', stored: undefined }])
    expect(statistics.outcomes()).toEqual([
      { handler: 'a', outcome: 'succeeded', count: 2 },
      { handler: 'a', outcome: 'failed', count: 1 },
    ])
  })

  it('tell how late first attempts started, and how long attempts took', () => {
    const statistics = new Statistics(new VirtualClock())
    for (let ms = 1; ms <= 100; ms++) stored(statistics, late(ms))
    stored(statistics, { ...late(5_000), attempts: 2 })
    const lateness = of(statistics.lateness(), 'start')
    expect(lateness?.count).toBe(100)
    expect(lateness?.maxMs).toBeCloseTo(100, 0)
    expect(lateness?.p50Ms).toBeCloseTo(50, -1)
    expect(lateness?.p99Ms).toBeCloseTo(99, -1)
    const duration = of(statistics.duration(), 'start')
    expect(duration?.count).toBe(101)
    expect(duration?.meanMs).toBeCloseTo(5, 0)
  })

  it('tell how long attempts waited: a retry from the end of its back-off', () => {
    const statistics = new Statistics(new VirtualClock())
    stored(statistics, { ...late(20), notBefore: DUE })
    stored(statistics, { ...late(60_005), notBefore: DUE + 60_000, attempts: 2 })
    const wait = of(statistics.wait(), 'start')
    expect(wait?.count).toBe(2)
    expect(wait?.maxMs).toBeCloseTo(20, 0)
    expect(wait?.p50Ms).toBeCloseTo(5, 0)
  })

  it('say nothing of what never started', () => {
    const statistics = new Statistics(new VirtualClock())
    stored(statistics, { outcome: 'expired', startTimeUs: 0, attempts: 0 })
    expect(of(statistics.lateness(), 'start')?.count).toBe(0)
    expect(of(statistics.wait(), 'start')?.count).toBe(0)
    expect(of(statistics.duration(), 'start')?.count).toBe(0)
  })

  it('forget after a minute and an hour what is only of that minute and hour', async () => {
    const clock = new VirtualClock()
    const statistics = new Statistics(clock)
    const counts = (): (number | undefined)[] => statistics.lateness().map(({ count }) => count)
    stored(statistics, late(1))
    await clock.advance(50_000)
    stored(statistics, late(1))
    expect(counts()).toEqual([2, 2, 2])
    await clock.advance(30_000)
    expect(counts()).toEqual([1, 2, 2])
    // an hour is kept in slices of five minutes
    await clock.advance(65 * 60_000)
    stored(statistics, late(1))
    expect(counts()).toEqual([1, 1, 3])
    await clock.advance(2 * 60 * 60_000)
    expect(counts()).toEqual([0, 0, 3])
  })
})
