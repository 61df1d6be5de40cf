import { encodeResult } from '../../server/rpc/result-codec.js'
import type { LogEntry } from '../../server/store/task-store.js'
import type { TaskResult } from '../../server/task/result.js'

const DUE = 1_800_000_000_001

/** A result of a task that was on time, with some fields changed. */
export function aResult(change: Partial<TaskResult> = {}): TaskResult {
  return {
    kind: 'result',
    taskId: 'task-1',
    handler: 'echo',
    run: 1,
    attempts: 1,
    interruptions: 0,
    outcome: 'succeeded',
    output: { kind: 'none' },
    dueTime: DUE,
    notBefore: DUE,
    startTimeUs: DUE * 1_000 + 250,
    endTimeUs: 1_800_000_001_000_000,
    workerId: 'thread-1',
    labels: {},
    traceId: '',
    origin: '',
    last: true,
    skippedCount: 0,
    manual: false,
    ...change,
  }
}

/** The same as it stands in the log. */
export function anEntry(result: Partial<TaskResult> = {}, at: Partial<LogEntry> = {}): LogEntry {
  const whole = aResult(result)
  return {
    position: 1,
    commitTime: DUE,
    kind: whole.kind,
    taskId: whole.taskId,
    handler: whole.handler,
    outcome: whole.outcome,
    origin: whole.origin,
    labels: whole.labels,
    run: whole.run,
    bytes: encodeResult(whole),
    ...at,
  }
}
