import { expect, it } from 'vitest'
import type { SpanRecord } from '../../server/task/span-record.js'
import { attemptRequest } from '../executor/attempt-request.js'
import { openThreads } from './thread-harness.js'

it('what an instrumentation sends from a thread is told before the end of its attempt, with the trace context that came along', async () => {
  const harness = await openThreads(new URL('../executor/contract-handlers.ts', import.meta.url), {
    instrumentation: new URL('./noting-instrumentation.ts', import.meta.url).href,
  })
  const { executor, events } = harness
  const notes: SpanRecord[] = []
  Object.assign(events, {
    spans(records: readonly SpanRecord[]) {
      notes.push(...records)
      events.told.push(...records.map((record) => `noted ${record.kind === 'note' ? record.startId : ''}`))
    },
  })
  const ids = Array.from({ length: 1_000 }, (_, index) => index + 1)
  const handlers = ['echo', 'soon', 'fail'] as const
  executor.start(
    'thread',
    ids.map((id) => attemptRequest(id, handlers[id % 3] ?? 'echo', id, { traceparent: `trace-of-${id}` })),
  )
  await harness.until(() => events.haveEnded(...ids))
  for (const id of ids) {
    expect(events.count(`noted ${id}`)).toBe(1)
    expect(events.told.indexOf(`noted ${id}`)).toBeLessThan(events.told.indexOf(`ended ${id}`))
  }
  expect(notes[0]).toMatchObject({ attributes: { traceparent: 'trace-of-1' } })
  await executor.close()
})
