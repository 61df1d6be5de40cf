import type { ThreadAttempt } from '../../server/executor/burst-message.js'
import type { SendSpans, ThreadInstrumentation } from '../../server/executor/instrument.js'

/** Notes the trace context of each attempt, before its outcome is known to anybody. */
export function instrument(send: SendSpans): ThreadInstrumentation {
  return {
    around<T>({ startId, traceparent }: ThreadAttempt, run: () => T): T {
      const note = () =>
        send([
          {
            kind: 'note',
            startId,
            attributes: { traceparent },
            events: [],
            links: [],
            status: { code: 1, message: '' },
          },
        ])
      const result = run()
      if (!(result instanceof Promise)) {
        note()
        return result
      }
      // oxlint-disable-next-line promise/prefer-await-to-then -- synchronous attempts stay so
      return result.finally(note) as T
    },
  }
}
