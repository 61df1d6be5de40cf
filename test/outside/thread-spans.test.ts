import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { AttemptRequest, Lane } from '../../server/executor/executor.js'
import { ThreadExecutor } from '../../server/executor/thread-executor.js'
import { createCatalogue } from '../../server/handlers/handler-catalogue.js'
import { loadHandlers } from '../../server/handlers/load-handlers.js'
import { TracedExecutor } from '../../server/telemetry/traced-executor.js'
import { attemptRequest } from '../telemetry/fake-executor.js'
import { recordedTracing } from '../telemetry/recorded-tracing.js'

const SAMPLED = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
const HANDLERS = new URL('./telemetry/traced-handlers.ts', import.meta.url).href

const { tracing, spans } = recordedTracing()
let executor: TracedExecutor
let nextStartId = 1
const ended = new Set<number>()

beforeAll(async () => {
  const threads = new ThreadExecutor({
    catalogue: createCatalogue(await loadHandlers([HANDLERS])),
    modules: [HANDLERS],
    threadSlots: 1,
    instrumentation: new URL('../../server/telemetry/thread-spans.ts', import.meta.url).href,
  })
  executor = new TracedExecutor(threads, tracing)
  executor.listen({
    began() {},
    ended: (ends) => ends.forEach(({ startId }) => ended.add(startId)),
    returned() {},
    released() {},
  })
  await threads.ready()
})
afterAll(() => executor.close())

describe('in real threads', () => {
  it.each<[Lane, string]>([
    ['thread', 'quick'],
    ['shared', 'shared'],
  ])('lane %s: every attempt of many at once has what its own handler traced', async (lane, handler) => {
    const inputs = Array.from({ length: 250 }, (_, n) => n)
    await run(
      lane,
      inputs.map((n) => ({ handler, payload: { kind: 'json', text: String(n) } })),
    )
    const attempts = spansNamed(`run ${handler}`)
    expect(attempts.map(({ attributes }) => attributes['input']).toSorted(byNumber)).toEqual(inputs)
    for (const attempt of attempts) expect(childrenOf(attempt)).toEqual(['look up'])
  })

  it('what was ended before a thread is stopped by force is kept, and the attempt’s span ends', async () => {
    const startId = nextStartId
    const before = spansNamed('look up').length
    const over = run('thread', [{ handler: 'stuck', timeoutMs: 0 }])
    await vi.waitFor(() => expect(spansNamed('look up')).toHaveLength(before + 1), { timeout: 20_000 })
    executor.stop(startId, 50)
    await over
    const [attempt] = spansNamed('run stuck')
    expect(attempt?.attributes).toMatchObject({
      'punctual.outcome': 'cancelled',
      'punctual.stop_stage': 'terminated',
    })
    expect(attempt?.attributes).not.toHaveProperty('lost')
    expect(childrenOf(attempt)).toEqual(['look up'])
  })

  it('an attempt whose thread exits has its span, with the error', async () => {
    await run('thread', [{ handler: 'exits' }])
    const [attempt] = spansNamed('run exits')
    expect(attempt?.attributes).toMatchObject({ 'error.type': 'WORKER_EXITED' })
    expect(childrenOf(attempt)).toEqual(['look up'])
  })
})

async function run(lane: Lane, requests: readonly Partial<AttemptRequest>[]): Promise<void> {
  const attempts = requests.map((request) =>
    attemptRequest({ startId: nextStartId++, traceparent: SAMPLED, createTime: Date.now(), ...request }),
  )
  if (lane === 'thread') executor.start(lane, attempts)
  else for (const attempt of attempts) executor.start(lane, [attempt])
  await vi.waitFor(() => expect(attempts.every(({ startId }) => ended.has(startId))).toBe(true), {
    timeout: 30_000,
  })
}

function spansNamed(name: string): ReadableSpan[] {
  return spans().filter((span) => span.name === name)
}

function childrenOf(parent: ReadableSpan | undefined): string[] {
  const { spanId } = parent?.spanContext() ?? {}
  return spans()
    .filter((span) => span.parentSpanContext?.spanId === spanId)
    .map((span) => span.name)
}

const byNumber = (a: unknown, b: unknown): number => Number(a) - Number(b)
