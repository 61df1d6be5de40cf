import { DEFAULT_RETRY, type RetryPolicy } from '../../server/task/retry.js'
import { NO_PAYLOAD, type TaskSpec } from '../../server/task/task-spec.js'

export type GivenSpec = Partial<Omit<TaskSpec, 'retry'>> & { readonly retry?: Partial<RetryPolicy> }

let count = 0

/** A complete spec: what a test does not care about is filled in. */
export function taskSpec({ retry, ...given }: GivenSpec = {}): TaskSpec {
  return {
    id: `task-${++count}`,
    handler: 'work',
    payload: NO_PAYLOAD,
    when: { kind: 'now' },
    retry: { ...DEFAULT_RETRY, ...retry },
    attemptTimeoutMs: 0,
    priority: 0,
    concurrencyKey: '',
    atMostOnce: false,
    labels: {},
    traceparent: '',
    tracestate: '',
    origin: '',
    rememberIdForMs: 24 * 60 * 60_000,
    ...given,
  }
}
