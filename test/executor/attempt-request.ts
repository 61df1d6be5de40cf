import type { AttemptRequest } from '../../server/executor/executor.js'
import { NO_PAYLOAD } from '../../server/task/task-spec.js'

export const DUE = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

/** An attempt to give to an executor; `input` is given as JSON. */
export function attemptRequest(
  startId: number,
  handler: string,
  input?: unknown,
  given: Partial<AttemptRequest> = {},
): AttemptRequest {
  return {
    startId,
    taskId: `task-${startId}`,
    handler,
    run: 1,
    attempt: 1,
    payload: input === undefined ? NO_PAYLOAD : { kind: 'json', text: JSON.stringify(input) },
    timeoutMs: 0,
    dueTime: DUE,
    notBefore: DUE,
    createTime: DUE,
    labels: {},
    traceparent: '',
    tracestate: '',
    alone: false,
    ...given,
  }
}
