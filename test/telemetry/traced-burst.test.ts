import { describe, expect, it } from 'vitest'
import { TracedExecutor } from '../../server/telemetry/traced-executor.js'
import { attemptRequest, FakeExecutor } from './fake-executor.js'
import { recordedTracing } from './recorded-tracing.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALL = 'b7ad6b7169203331'
const SAMPLED = `00-${TRACE}-${CALL}-01`
const UNSAMPLED = `00-${TRACE}-${CALL}-00`

describe('a burst of attempts', () => {
  it('reaches the executor in its order, with only the sampled ones changed, and is itself left as it was', () => {
    const { executor, given } = tracedExecutor()
    const burst = burstOf(UNSAMPLED, SAMPLED, UNSAMPLED, SAMPLED)
    const before = [...burst]
    executor.start('thread', burst)
    expect(burst).toEqual(before)
    expect(given().map(({ startId }) => startId)).toEqual([0, 1, 2, 3])
    expect(given().map((request, index) => request === before[index])).toEqual([true, false, true, false])
    for (const index of [1, 3])
      expect(given()[index]?.traceparent).toMatch(new RegExp(`^00-${TRACE}-(?!${CALL})[\\da-f]{16}-01$`))
  })

  it('is handed on without a copy when nothing in it is sampled', () => {
    const { executor, given } = tracedExecutor()
    const burst = burstOf(UNSAMPLED, UNSAMPLED)
    executor.start('thread', burst)
    expect(given()).toBe(burst)
  })
})

function tracedExecutor() {
  const inner = new FakeExecutor()
  const executor = new TracedExecutor(inner, recordedTracing().tracing)
  return { executor, given: () => inner.started.at(-1)?.burst ?? [] }
}

function burstOf(...traceparents: readonly string[]) {
  return traceparents.map((traceparent, startId) => attemptRequest({ startId, traceparent }))
}
