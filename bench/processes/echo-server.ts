import { Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js'
import { Outcome, ResultKind, type TaskResult } from '../../proto/generated/punctual/v1/result.js'
import {
  type ScheduleRequest,
  SchedulerServiceService as service,
  type StreamResultsRequest,
  type StreamResultsResponse,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { type Task, TaskState } from '../../proto/generated/punctual/v1/task.js'
import { BYTE_STREAM, sendBytes } from './byte-stream.js'
import type { EchoReady } from './echo-process.js'

/**
 * The ceiling for everything that is called over gRPC: a server that takes the same messages, does nothing, and sends answers and results of the same shape. Stock
 * grpc-js and generated code, as anyone would write it.
 */

/** Results in one message, as in a batch of tasks. */
const RESULTS_A_MESSAGE = 256
const LOG_ID = '019b0000-0000-7000-8000-000000000000'
const CURSOR = Buffer.from(`1:123456:${LOG_ID}`).toString('base64url')

type Stream = ServerWritableStream<StreamResultsRequest, StreamResultsResponse>
const open = new Set<Stream>()
let made = 0

const now = () => ({ seconds: BigInt(Math.floor(Date.now() / 1_000)), nanos: 123_456_000 })
const idOf = (): string => `019b0000-0000-7000-8000-${String(++made).padStart(12, '0')}`

function taskOf({ task }: ScheduleRequest, id: string): Task {
  const time = now()
  return {
    spec: task && { ...task, id },
    state: TaskState.SCHEDULED,
    run: 1n,
    attempts: 0,
    interruptedAttempts: 0,
    dueTime: time,
    nextDueTime: time,
    createTime: time,
    startTime: undefined,
    paused: false,
    cancelRequested: false,
    blockedReason: 0,
    lastError: undefined,
    replacementWaits: false,
  }
}

function resultOf({ task }: ScheduleRequest, taskId: string): TaskResult {
  const time = now()
  return {
    sequence: BigInt(made),
    kind: ResultKind.RESULT,
    taskId,
    handler: task?.handler ?? '',
    run: 1n,
    attempts: 1,
    interruptedAttempts: 0,
    outcome: Outcome.SUCCEEDED,
    payload:
      task?.payload?.$case === 'inputJson' ? { $case: 'outputJson', value: task.payload.value } : undefined,
    error: undefined,
    dueTime: time,
    startTime: time,
    endTime: time,
    commitTime: time,
    workerId: 'thread-1',
    labels: task?.labels ?? {},
    traceId: '',
    origin: task?.origin ?? '',
    last: true,
    skipReason: 0,
    skippedCount: 0n,
    cancelStage: 0,
    manual: false,
  }
}

const messageOf = (results: TaskResult[], caughtUp = false): StreamResultsResponse => ({
  results,
  cursor: CURSOR,
  caughtUp,
  logId: LOG_ID,
})

function tell(requests: readonly ScheduleRequest[], ids: readonly string[]): void {
  if (open.size === 0) return
  const results = requests.map((request, i) => resultOf(request, ids[i] ?? ''))
  for (const stream of open) stream.write(messageOf(results))
}

/** As many results as the caller asks for in its metadata, at the pace at which it reads. */
async function replay(stream: Stream, count: number): Promise<void> {
  const payload = {
    $case: 'inputJson',
    value: '{"n":1,"text":"hello world, hello world, hello world"}',
  } as const
  const request = { task: { handler: 'echo', payload, labels: {} } } as ScheduleRequest
  for (let sent = 0; sent < count; sent += RESULTS_A_MESSAGE) {
    const results = Array.from({ length: Math.min(RESULTS_A_MESSAGE, count - sent) }, () =>
      resultOf(request, idOf()),
    )
    if (!stream.write(messageOf(results))) await new Promise((resolve) => stream.once('drain', resolve))
  }
  stream.write(messageOf([], true))
  // what `end` takes is metadata
  stream.end()
}

const server = new Server({ 'grpc-node.flow_control_window': 4 * 1024 * 1024, 'grpc.enable_channelz': 0 })
server.addService(BYTE_STREAM, {
  read: (stream: ServerWritableStream<Buffer, Buffer>) => void sendBytes(stream),
})
server.addService(service, {
  schedule: (call: { request: ScheduleRequest }, answer: (error: null, response: object) => void) => {
    const id = idOf()
    answer(null, { task: taskOf(call.request, id), created: true, cursor: CURSOR })
    tell([call.request], [id])
  },
  scheduleBatch: (
    call: { request: { requests: ScheduleRequest[] } },
    answer: (error: null, response: object) => void,
  ) => {
    const { requests } = call.request
    const ids = requests.map(idOf)
    const dueTime = now()
    const answers = ids.map((id) => ({
      id,
      created: true,
      state: TaskState.SCHEDULED,
      dueTime,
      cursor: '',
      error: undefined,
    }))
    answer(null, { answers, cursor: CURSOR })
    tell(requests, ids)
  },
  streamResults: (stream: Stream) => {
    const wanted = Number(stream.metadata.get('bench-results')[0] ?? 0)
    if (wanted > 0) {
      void replay(stream, wanted)
      return
    }
    stream.write(messageOf([]))
    open.add(stream)
    stream.once('cancelled', () => open.delete(stream))
  },
})
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  process.send?.({ address: `127.0.0.1:${port}` } satisfies EchoReady)
})
process.once('disconnect', () => process.exit(0))
