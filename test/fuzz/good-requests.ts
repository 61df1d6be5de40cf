import { ResultFilter } from '../../proto/generated/punctual/v1/result.js'
import * as wire from '../../proto/generated/punctual/v1/scheduler_service.js'
import { Recurrence, RetryPolicy, TaskSpec } from '../../proto/generated/punctual/v1/task.js'
import { rpc } from '../rpc/test-server.js'

const seconds = (count: number): { seconds: bigint; nanos: number } => ({
  seconds: BigInt(count),
  nanos: 500_000_000,
})

const everything: TaskSpec = {
  ...TaskSpec.create(),
  id: 'fuzz/1',
  handler: 'echo',
  payload: { $case: 'input', value: { a: [1, null, { b: 'ü' }], c: true } },
  when: { $case: 'delay', value: seconds(3_600) },
  recurrence: {
    ...Recurrence.create(),
    rule: { $case: 'cron', value: '*/5 * * * *' },
    timeZone: 'Europe/Berlin',
    maxRuns: 3n,
    until: seconds(4_000_000_000),
    jitter: seconds(1),
  },
  retry: {
    ...RetryPolicy.create(),
    maxAttempts: 3,
    initialBackoff: seconds(1),
    backoffMultiplier: 2,
    maxBackoff: seconds(60),
    jitterRatio: 0.2,
    nonRetryableCodes: ['GONE'],
  },
  attemptTimeout: seconds(10),
  startWithin: seconds(60),
  priority: -5,
  concurrencyKey: 'key',
  labels: { team: 'a', 'long name': 'b' },
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'a=b',
  rememberIdFor: seconds(600),
}
const simple: TaskSpec = {
  ...TaskSpec.create(),
  id: 'fuzz/2',
  handler: 'echo',
  payload: { $case: 'inputJson', value: '{"n":[1]}' },
}
const asBytes: TaskSpec = {
  ...TaskSpec.create(),
  handler: 'echo',
  payload: { $case: 'inputBytes', value: Buffer.from([0, 255]) },
  atMostOnce: true,
}
const filter = { ...ResultFilter.create(), taskIds: ['fuzz/1'], handlers: ['echo'], labels: { team: 'a' } }
const taskFilter = {
  ...wire.TaskFilter.create(),
  handlers: ['echo'],
  labels: { team: 'a' },
  dueBefore: seconds(4_000_000_000),
}

/** Requests that are well formed, some of each call; what is made of them is not. */
export const GOOD_REQUESTS: Readonly<Record<string, readonly Uint8Array[]>> = {
  [rpc.schedule.path]: [everything, simple, asBytes].map((task) =>
    wire.ScheduleRequest.encode({ ...wire.ScheduleRequest.create(), task, requestId: 'r1' }).finish(),
  ),
  [rpc.scheduleBatch.path]: [
    wire.ScheduleBatchRequest.encode({
      requests: [everything, simple, asBytes].map((task) => wire.ScheduleRequest.create({ task })),
    }).finish(),
  ],
  [rpc.cancel.path]: [wire.CancelRequest.encode({ id: 'fuzz/1', grace: seconds(1) }).finish()],
  [rpc.cancelBatch.path]: [
    wire.CancelBatchRequest.encode({
      ...wire.CancelBatchRequest.create(),
      ids: ['fuzz/1', 'x'],
      dryRun: true,
    }).finish(),
    wire.CancelBatchRequest.encode({ ...wire.CancelBatchRequest.create(), filter: taskFilter }).finish(),
  ],
  [rpc.retryBatch.path]: [
    wire.RetryBatchRequest.encode({ ...wire.RetryBatchRequest.create(), filter: taskFilter }).finish(),
  ],
  [rpc.getTask.path]: [
    wire.GetTaskRequest.encode({ ...wire.GetTaskRequest.create(), id: 'fuzz/1' }).finish(),
  ],
  [rpc.listTasks.path]: [
    wire.ListTasksRequest.encode({
      ...wire.ListTasksRequest.create(),
      filter: taskFilter,
      pageSize: 10,
      pageToken: 'WzBd',
    }).finish(),
  ],
  [rpc.pause.path]: [wire.PauseRequest.encode({ id: 'fuzz/1' }).finish()],
  [rpc.resume.path]: [wire.ResumeRequest.encode({ id: 'fuzz/1' }).finish()],
  [rpc.runNow.path]: [wire.RunNowRequest.encode({ id: 'fuzz/1' }).finish()],
  [rpc.previewRecurrence.path]: [
    wire.PreviewRecurrenceRequest.encode({
      ...wire.PreviewRecurrenceRequest.create(),
      recurrence: everything.recurrence,
      from: seconds(1_800_000_000),
      count: 5,
      taskId: 'fuzz/1',
    }).finish(),
  ],
  [rpc.ackResults.path]: [
    wire.AckResultsRequest.encode({
      ...wire.AckResultsRequest.create(),
      consumer: 'c',
      cursor: 'MTo0',
    }).finish(),
  ],
  [rpc.deleteConsumer.path]: [
    wire.DeleteConsumerRequest.encode({ ...wire.DeleteConsumerRequest.create(), consumer: 'c' }).finish(),
  ],
  [rpc.listConsumers.path]: [wire.ListConsumersRequest.encode({}).finish()],
  [rpc.listHandlers.path]: [wire.ListHandlersRequest.encode({}).finish()],
  [rpc.getStats.path]: [wire.GetStatsRequest.encode({}).finish()],
  [rpc.getServerInfo.path]: [wire.GetServerInfoRequest.encode({}).finish()],
  [rpc.waitForResult.path]: [
    wire.WaitForResultRequest.encode({
      ...wire.WaitForResultRequest.create(),
      taskId: 'fuzz/1',
      run: 1n,
      wait: seconds(1),
    }).finish(),
  ],
}

/** Of the one call that streams. */
export const GOOD_STREAM_REQUESTS: readonly Uint8Array[] = [
  wire.StreamResultsRequest.encode({
    ...wire.StreamResultsRequest.create(),
    filter,
    start: { $case: 'position', value: wire.Position.EARLIEST },
    stopWhenCaughtUp: true,
    heartbeatInterval: seconds(5),
  }).finish(),
]
