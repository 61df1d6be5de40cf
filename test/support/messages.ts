import { Outcome, ResultKind, TaskResult } from '../../proto/generated/punctual/v1/result.js'
import {
  ScheduleAnswer,
  type ScheduleBatchRequest,
  ScheduleBatchResponse,
  type ScheduleRequest,
  ScheduleResponse,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { Task, TaskState } from '../../proto/generated/punctual/v1/task.js'

/** A good result, as a server would send it. */
export function resultMessage(taskId: string, changes: Partial<TaskResult> = {}): TaskResult {
  return TaskResult.create({
    sequence: 1n,
    kind: ResultKind.RESULT,
    taskId,
    handler: 'echo',
    run: 1n,
    attempts: 1,
    outcome: Outcome.SUCCEEDED,
    payload: { $case: 'outputJson', value: JSON.stringify(`output of ${taskId}`) },
    dueTime: { seconds: 1_893_456_000n, nanos: 0 },
    startTime: { seconds: 1_893_456_000n, nanos: 1_500_000 },
    endTime: { seconds: 1_893_456_000n, nanos: 3_750_000 },
    commitTime: { seconds: 1_893_456_000n, nanos: 4_000_000 },
    workerId: 'thread-1',
    last: true,
    ...changes,
  })
}

/** A stored task, as a server would send it. */
export function taskMessage(changes: Partial<Task> = {}): Task {
  return Task.create({ state: TaskState.SCHEDULED, run: 1n, ...changes })
}

/** What a server answers to one good request. */
export function scheduledMessage(request: ScheduleRequest): ScheduleResponse {
  const task = taskMessage({ spec: request.task, dueTime: { seconds: 1_893_456_000n, nanos: 0 } })
  return ScheduleResponse.create({ task, created: true, cursor: 'c1' })
}

/** What a server answers to a batch of good requests; `change` what it says otherwise of one. */
export function batchMessage(
  { requests }: ScheduleBatchRequest,
  change: (index: number) => Partial<ScheduleAnswer> = () => ({}),
): ScheduleBatchResponse {
  const answers = requests.map(({ task }, index) =>
    ScheduleAnswer.create({
      id: task?.id ?? '',
      created: true,
      state: TaskState.SCHEDULED,
      ...change(index),
    }),
  )
  return ScheduleBatchResponse.create({ answers, cursor: 'c1' })
}
