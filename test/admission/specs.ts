import type { ScheduleCall } from '../../server/admission/schedule-call.js'
import { DEFAULT_RETRY } from '../../server/task/retry.js'
import { NO_PAYLOAD, type TaskSpec } from '../../server/task/task-spec.js'

/** A good spec, with some fields changed. */
export function aSpec(change: Partial<TaskSpec> = {}): TaskSpec {
  return {
    id: 'task-1',
    handler: 'echo',
    payload: NO_PAYLOAD,
    when: { kind: 'now' },
    retry: DEFAULT_RETRY,
    attemptTimeoutMs: 3_600_000,
    priority: 0,
    concurrencyKey: '',
    atMostOnce: false,
    labels: {},
    traceparent: '',
    tracestate: '',
    origin: '',
    rememberIdForMs: 86_400_000,
    ...change,
  }
}

/** A good call, with some fields of it or of its spec changed. */
export function aCall(spec: Partial<TaskSpec> = {}, call: Partial<ScheduleCall> = {}): ScheduleCall {
  return {
    spec: aSpec(spec),
    onConflict: 'sameSpec',
    requestId: '',
    payloadField: 'task.input_json',
    violations: [],
    unknownFields: [],
    ...call,
  }
}
