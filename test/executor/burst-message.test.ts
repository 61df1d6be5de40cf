import { expect, it } from 'vitest'
import { addToBurst, readBurst } from '../../server/executor/burst-message.js'
import { NO_PAYLOAD } from '../../server/task/task-spec.js'
import { attemptRequest } from './attempt-request.js'

it('a burst arrives in a thread as it was given', () => {
  const message: unknown[] = []
  const requests = [
    attemptRequest(
      1,
      'echo',
      { n: 1 },
      { labels: { team: 'a' }, traceparent: '00-a', tracestate: 'b=c', run: 7, attempt: 3 },
    ),
    attemptRequest(2, 'echo', undefined, { payload: { kind: 'bytes', bytes: Uint8Array.of(1, 2) } }),
    attemptRequest(3, 'echo', undefined, { payload: NO_PAYLOAD }),
  ]
  requests.forEach((request, index) => addToBurst(message, index + 1, index + 10, request))
  const arrived = readBurst(structuredClone(message))
  expect(arrived).toEqual(
    requests.map(
      (
        { startId, taskId, handler, run, attempt, payload, dueTime, labels, traceparent, tracestate },
        index,
      ) => ({
        row: index + 1,
        generation: index + 10,
        startId,
        taskId,
        handler,
        run,
        attempt,
        payload,
        dueTime,
        labels,
        traceparent,
        tracestate,
      }),
    ),
  )
})
