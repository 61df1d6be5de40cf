import type { TaskResult } from '../../server/task/result.js'
import { NO_PAYLOAD } from '../../server/task/task-spec.js'
import { DUE } from './fake-executor.js'

/** How a run of `fibonacci` ended. */
export function runResult(given: Partial<TaskResult> = {}): TaskResult {
  return {
    kind: 'result',
    taskId: 'task-1',
    handler: 'fibonacci',
    run: 1,
    attempts: 1,
    interruptions: 0,
    outcome: 'succeeded',
    output: NO_PAYLOAD,
    dueTime: DUE,
    notBefore: DUE,
    startTimeUs: DUE * 1_000 + 1_500,
    endTimeUs: DUE * 1_000 + 21_500,
    workerId: 'thread-1',
    labels: {},
    traceId: '',
    origin: '',
    last: true,
    skippedCount: 0,
    manual: false,
    ...given,
  }
}
