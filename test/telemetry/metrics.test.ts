import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { StoreStats } from '../../server/store/task-store.js'
import { MeteredExecutor } from '../../server/telemetry/metered-executor.js'
import { METRICS } from '../../server/telemetry/metric-list.js'
import { observeSources } from '../../server/telemetry/metric-sources.js'
import { Metrics } from '../../server/telemetry/metrics.js'
import { attemptEnd, attemptRequest, DUE, FakeExecutor } from './fake-executor.js'
import { FixedClock } from './fixed-clock.js'
import { recordedMetrics } from './recorded-metrics.js'
import { runResult } from './run-result.js'

const LOADED = new Set(['fibonacci', 'echo', 'sleep'])

describe('attempts', () => {
  it('tell how late their run started, how long they waited for their thread, and how long they took', async () => {
    const { executor, inner, clock, series } = meteredExecutor()
    clock.micros = DUE * 1_000 + 1_000
    executor.start('thread', [attemptRequest()])
    inner.tell.began([attemptEnd()])
    inner.tell.ended([attemptEnd()])
    expect(await series('lateness')).toEqual([
      'punctual_run_lateness_count{handler="fibonacci"} 1',
      'punctual_run_lateness_sum{handler="fibonacci"} 0.0015',
    ])
    expect(await series('attemptWait')).toEqual([
      'punctual_attempt_wait_count{lane="thread"} 1',
      'punctual_attempt_wait_sum{lane="thread"} 0.0005',
    ])
    expect(await series('attemptDuration')).toEqual([
      'punctual_attempt_duration_count{handler="fibonacci"} 1',
      'punctual_attempt_duration_sum{handler="fibonacci"} 0.02',
    ])
    expect(await series('attempts')).toEqual(['punctual_attempts_total{outcome="succeeded"} 1'])
  })

  it('are late only at their first start: a retry is not', async () => {
    const { executor, inner, series } = meteredExecutor()
    executor.start('thread', [attemptRequest({ attempt: 2 })])
    inner.tell.began([attemptEnd()])
    expect(await series('lateness')).toEqual([])
  })

  it('take no time when they never began', async () => {
    const { executor, inner, series } = meteredExecutor()
    executor.start('thread', [attemptRequest()])
    inner.tell.ended([attemptEnd({ outcome: { kind: 'cancelled', stage: 'neverStarted' } })])
    expect(await series('attemptDuration')).toEqual([])
    expect(await series('attempts')).toEqual(['punctual_attempts_total{outcome="cancelled"} 1'])
  })
})

describe('a run that ended', () => {
  it('is counted by handler and outcome', async () => {
    const { metrics, series } = countedHere()
    metrics.runEnded(runResult({ outcome: 'failed' }))
    metrics.runEnded(runResult({ outcome: 'failed' }))
    metrics.runEnded(runResult({ handler: 'echo', outcome: 'succeeded' }))
    expect(await series('results')).toEqual([
      'punctual_results_total{handler="fibonacci",outcome="failed"} 2',
      'punctual_results_total{handler="echo",outcome="succeeded"} 1',
    ])
  })

  it('tells how many slots were skipped, and why', async () => {
    const { metrics, series } = countedHere()
    for (const skippedCount of [2, 3])
      metrics.runEnded(runResult({ outcome: 'skipped', skipReason: 'overlap', skippedCount }))
    metrics.runEnded(runResult({ outcome: 'skipped', skipReason: 'paused', skippedCount: 1 }))
    expect(await series('slotsSkipped')).toEqual([
      'punctual_recurrence_slots_skipped_total{handler="fibonacci",reason="overlap"} 5',
      'punctual_recurrence_slots_skipped_total{handler="fibonacci",reason="paused"} 1',
    ])
  })
})

describe('what is read off at each look', () => {
  it('is what the parts tell', async () => {
    const { meter, scrape } = recordedMetrics()
    const stop = observeSources(meter, sources())
    const lines = await scrape()
    expect(lines.filter((line) => !line.startsWith('nodejs_eventloop'))).toEqual([
      'punctual_slots{lane="thread"} 2',
      'punctual_slots{lane="shared"} 256',
      'punctual_slots_busy{lane="thread"} 1',
      'punctual_slots_busy{lane="shared"} 0',
      'punctual_tasks{state="scheduled"} 4',
      'punctual_tasks{state="running"} 1',
      'punctual_tasks{state="succeeded"} 9',
      'punctual_tasks{state="failed"} 0',
      'punctual_tasks{state="cancelled"} 0',
      'punctual_tasks{state="expired"} 0',
      'punctual_tasks_due 3',
      'punctual_tasks_near 4',
      'punctual_draining 0',
      'punctual_store_size 4096',
      'punctual_store_available 1',
      'punctual_log_entries 9',
      'punctual_streams 2',
      'punctual_results_sent_total 17',
      'punctual_consumers 2',
      'punctual_consumers_lag_max 6',
      'punctual_consumer_lag{consumer="audit"} 6',
      'punctual_consumer_lag{consumer="billing"} 2',
      'punctual_watchdog_findings_total{kind="lateTimer"} 1',
    ])
    stop()
  })

  it('leaves out what cannot be told: a store that fails does not take the others with it', async () => {
    const { meter, series } = recordedMetrics()
    const failing = { storeStats: () => Promise.reject(new Error('disk full')), storeAvailable: () => false }
    const stop = observeSources(meter, { ...sources(), ...failing })
    expect(await series('storeSize')).toEqual([])
    expect(await series('storeAvailable')).toEqual(['punctual_store_available 0'])
    expect(await series('streams')).toEqual(['punctual_streams 2'])
    stop()
  })
})

describe('durable consumers', () => {
  it('are told apart as long as they are few; the largest lag counts all', async () => {
    const { meter, series } = recordedMetrics()
    const consumers = () => Array.from({ length: 60 }, (_, n) => ({ name: `c${n}`, lag: n }))
    const stop = observeSources(meter, { consumers })
    expect(await series('consumerLag')).toHaveLength(50)
    expect(await series('consumerMaxLag')).toEqual(['punctual_consumers_lag_max 59'])
    stop()
  })
})

describe('the number of time series', () => {
  it('stays below 300 whatever 5,000 tasks are called, and none holds an id, a key, a label or an error (C145)', async () => {
    const { metrics, meter, scrape } = countedHere()
    const inner = new FakeExecutor()
    const executor = new MeteredExecutor(inner, metrics, new FixedClock(DUE))
    executor.listen({ began() {}, ended() {}, returned() {}, released() {} })
    const stop = observeSources(meter, sources())
    for (let n = 0; n < 5_000; n++) {
      // loaded ones, and those of a folder whose handlers are gone
      const handler = n % 2 === 0 ? (['fibonacci', 'echo', 'sleep'][n % 3] ?? '') : `gone-S3CRET-${n}`
      const error = {
        code: `S3CRET-${n}`,
        message: `S3CRET-${n}`,
        stack: '',
        name: `S3CRET-${n}`,
        cause: '',
      }
      const labels = { tenant: `S3CRET-${n}` }
      const lane = n % 2 === 0 ? 'thread' : 'shared'
      metrics.taskScheduled(handler)
      executor.start(lane, [attemptRequest({ startId: n, taskId: `S3CRET-${n}`, handler, labels })])
      inner.tell.began([attemptEnd({ startId: n, workerId: `S3CRET-${n}` })])
      inner.tell.ended([attemptEnd({ startId: n, outcome: { kind: 'failed', error, retryable: false } })])
      const outcome =
        (['succeeded', 'failed', 'timedOut', 'cancelled', 'expired'] as const)[n % 5] ?? 'failed'
      metrics.runEnded(runResult({ taskId: `S3CRET-${n}`, handler, labels, outcome, error }))
    }
    const lines = await scrape()
    expect(lines.length).toBeLessThan(300)
    expect(lines.join('\n')).not.toContain('S3CRET')
    expect(lines).toContain('punctual_tasks_scheduled_total{handler="not_loaded"} 2500')
    stop()
  })
})

describe('the list of metrics', () => {
  it('stands in the documentation, each with its unit', () => {
    const page = readFileSync('docs/telemetry.md', 'utf8')
    for (const { name, unit, kind, description, attributes } of Object.values(METRICS)) {
      const words = attributes.map((attribute) => `\`${attribute}\``).join(' ')
      expect(page).toContain(`| \`${name}\` | ${kind} | \`${unit}\` | ${words} | ${description} |`)
    }
  })
})

function countedHere() {
  const recorded = recordedMetrics()
  return {
    ...recorded,
    metrics: new Metrics(recorded.meter, recorded.histograms, (name) => LOADED.has(name)),
  }
}

function meteredExecutor() {
  const { metrics, ...recorded } = countedHere()
  const inner = new FakeExecutor()
  const clock = new FixedClock(DUE)
  const executor = new MeteredExecutor(inner, metrics, clock)
  executor.listen({ began() {}, ended() {}, returned() {}, released() {} })
  return { ...recorded, executor, inner, clock }
}

function sources() {
  const stats: StoreStats = {
    states: { scheduled: 4, running: 1, succeeded: 9, failed: 0, cancelled: 0, expired: 0 },
    bytes: 4_096,
    resultBytes: 1_024,
    logEntries: 9,
    earliest: 0,
    latest: 9,
  }
  return {
    scheduler: () => ({
      lanes: [
        { lane: 'thread', slots: 2, busy: 1 } as const,
        { lane: 'shared', slots: 256, busy: 0 } as const,
      ],
      near: 4,
      dueWaiting: 3,
      draining: false,
    }),
    storeStats: () => Promise.resolve(stats),
    storeAvailable: () => true,
    streams: () => 2,
    resultsSent: () => 17,
    consumers: () => [
      { name: 'audit', lag: 6 },
      { name: 'billing', lag: 2 },
    ],
    watchdogFindings: () => ({ lateTimer: 1 }),
  }
}
