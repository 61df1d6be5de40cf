import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { InsertAnswer, InsertRequest, TaskStore, UpdateAnswer } from '../../server/store/task-store.js'
import type { Transition } from '../../server/task/result.js'
import type { Task } from '../../server/task/task.js'
import { meteredStore } from '../../server/telemetry/metered-store.js'
import { Metrics } from '../../server/telemetry/metrics.js'
import { override } from '../../server/telemetry/port-override.js'
import { tracedStore } from '../../server/telemetry/traced-store.js'
import { DUE } from './fake-executor.js'
import { FixedClock } from './fixed-clock.js'
import { recordedMetrics } from './recorded-metrics.js'
import { recordedTracing } from './recorded-tracing.js'
import { runResult } from './run-result.js'

const task = { spec: { handler: 'fibonacci' } } as Task
const insertOf = { task, near: true } satisfies InsertRequest

describe('a metered store', () => {
  it('counts tasks that were stored, not those that were known', async () => {
    const { store, series } = metered({
      insert: () => Promise.resolve([answer('created'), answer('exists'), answer('created')]),
    })
    await store.insert([insertOf, insertOf, insertOf])
    expect(await series('tasksScheduled')).toEqual(['punctual_tasks_scheduled_total{handler="fibonacci"} 2'])
  })

  it('counts results when they are on disk, and none that was refused', async () => {
    const answers: UpdateAnswer[] = [{ kind: 'stored' }, { kind: 'refused', stored: undefined }]
    const { store, series } = metered({ update: () => Promise.resolve(answers) })
    const ended: Transition = { task, entries: [runResult({ kind: 'attempt' }), runResult()] }
    await store.update([ended, ended])
    expect(await series('results')).toEqual([
      'punctual_results_total{handler="fibonacci",outcome="succeeded"} 1',
    ])
  })

  it('times each write until it is on disk', async () => {
    const { store, series, clock } = metered({
      start: () => {
        clock.micros += 4_000
        return Promise.resolve()
      },
    })
    await store.start([])
    expect(await series('commitDuration')).toEqual([
      'punctual_store_commit_duration_count{operation="start"} 1',
      'punctual_store_commit_duration_sum{operation="start"} 0.004',
    ])
  })

  it('is available again after the first write that goes well', async () => {
    let fails = true
    const start = () => (fails ? Promise.reject(new Error('disk full')) : Promise.resolve())
    const { store, isAvailable } = metered({ start })
    await expect(store.start([])).rejects.toThrow('disk full')
    expect(isAvailable()).toBe(false)
    fails = false
    await store.start([])
    expect(isAvailable()).toBe(true)
  })
})

describe('a traced store', () => {
  beforeAll(() => context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()))
  afterAll(() => context.disable())

  it('shows in the call that waits for its insert', async () => {
    const { store, inCall, span } = traced(() => Promise.resolve([answer('created')]))
    const call = await inCall(() => store.insert([insertOf]))
    expect(span('insert tasks').parentSpanContext?.spanId).toBe(call.spanId)
    expect(span('insert tasks')).toMatchObject({
      kind: SpanKind.CLIENT,
      attributes: { 'db.operation.name': 'insert', 'db.operation.batch.size': 1 },
    })
  })

  it('shows that an insert failed, and lets the failure through', async () => {
    const { store, inCall, span } = traced(() => Promise.reject(new RangeError('disk full')))
    await expect(inCall(() => store.insert([insertOf]))).rejects.toThrow('disk full')
    expect(span('insert tasks').status.code).toBe(SpanStatusCode.ERROR)
    expect(span('insert tasks').attributes).toMatchObject({ 'error.type': 'RangeError' })
  })

  it('makes no span outside a call, nor in one that is not sampled', async () => {
    const { store, spans } = traced(() => Promise.resolve([]))
    await store.insert([])
    const unsampled = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 0 }
    await context.with(trace.setSpanContext(context.active(), unsampled), () => store.insert([]))
    expect(spans()).toEqual([])
  })
})

describe('a port with some methods replaced', () => {
  class Counter {
    #count = 0
    readonly name = 'counter'
    add(): number {
      this.#count += 1
      return this.#count
    }
    reset(): void {
      this.#count = 0
    }
  }

  it('keeps its own state, methods and fields for the rest', () => {
    const counter = new Counter()
    const other = override(counter, { reset: () => {} })
    expect([other.add(), other.add(), other.name]).toEqual([1, 2, 'counter'])
    other.reset()
    expect(counter.add()).toBe(3)
  })
})

function answer(kind: InsertAnswer['kind']): InsertAnswer {
  return { kind, task, logPosition: 0 }
}

function metered(methods: Partial<TaskStore>) {
  const { meter, histograms, series } = recordedMetrics()
  const clock = new FixedClock(DUE)
  const metrics = new Metrics(meter, histograms, () => true)
  return { ...meteredStore(methods as TaskStore, metrics, clock), series, clock }
}

function traced(insert: TaskStore['insert']) {
  const { provider, ...recorded } = recordedTracing()
  const inCall = async (call: () => Promise<unknown>) => {
    const span = provider.getTracer('rpc').startSpan('Schedule')
    await context.with(trace.setSpan(context.active(), span), call)
    return span.spanContext()
  }
  return { ...recorded, store: tracedStore({ insert } as TaskStore, provider), inCall }
}
