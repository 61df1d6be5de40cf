import type { ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import * as wire from '../../proto/generated/punctual/v1/scheduler_service.js'
import type { Clock } from '../clock.js'
import { Slices } from '../clock/slices.js'
import type { Log } from '../task/log.js'
import { type BatchAnswers, encodeBatchAnswers } from './batch-answers.js'
import { callTrace } from './call-trace.js'
import { readSchedule, readScheduleBatch } from './read-schedule.js'
import type { ConsumerService } from './consumer-service.js'
import type { ResultStreaming } from './result-streaming.js'
import type { ServerService } from './server-service.js'
import { toStreamWish } from './stream-request.js'
import type { TaskService } from './task-service.js'
import { decodeMessage, type Decoder } from './wire-reader.js'
import { type Call, type Codec, serverStream, unary } from './wrap.js'

/** Bytes in, bytes out: requests are decoded and answers encoded inside the wrapper, where what goes wrong has its proper answer. */
const asIs = (bytes: Buffer): Buffer => bytes

/** The service as grpc-js wants it described. */
export const SERVICE: ServiceDefinition = Object.fromEntries(
  Object.entries(wire.SchedulerServiceService).map(([name, method]) => [
    name,
    { ...method, requestDeserialize: asIs, responseSerialize: asIs },
  ]),
)

export interface ServiceParts {
  readonly tasks: TaskService
  readonly server: ServerService
  readonly consumers: ConsumerService
  readonly streaming: ResultStreaming
  readonly log: Log
}

interface Encoder<T> {
  encode(message: T, writer: BinaryWriter): BinaryWriter
}

/** Keeps its buffer from answer to answer; nothing is awaited between its first byte and `finish`. */
const writer = new BinaryWriter()

/** One line for each RPC: how its messages are read and written, and who answers. */
export function implementation(
  { tasks, server, consumers, streaming, log }: ServiceParts,
  clock: Clock,
): UntypedServiceImplementation {
  const call = <Request, Response>(
    request: Decoder<Request>,
    response: Encoder<Response>,
    handle: (request: Request, call: Call) => Response | Promise<Response>,
  ) =>
    unary(
      codec((bytes) => decodeMessage(request, bytes), response),
      handle,
      log,
    )
  return {
    schedule: unary(
      codec((bytes, { metadata }) => readSchedule(bytes, callTrace(metadata)), wire.ScheduleResponse),
      (request) => tasks.schedule(request),
      log,
    ),
    scheduleBatch: unary(
      {
        decode: (bytes, { metadata }) => readScheduleBatch(bytes, callTrace(metadata), new Slices(clock)),
        encode: (answers: BatchAnswers) => encodeBatchAnswers(answers, new Slices(clock)),
      },
      (request) => tasks.scheduleBatch(request),
      log,
    ),
    cancel: call(wire.CancelRequest, wire.CancelResponse, (request) => tasks.cancel(request)),
    cancelBatch: call(wire.CancelBatchRequest, wire.CancelBatchResponse, (request, at) =>
      tasks.cancelBatch(request, at),
    ),
    retryBatch: call(wire.RetryBatchRequest, wire.RetryBatchResponse, (request, at) =>
      tasks.retryBatch(request, at),
    ),
    getTask: call(wire.GetTaskRequest, wire.GetTaskResponse, (request) => tasks.getTask(request)),
    listTasks: call(wire.ListTasksRequest, wire.ListTasksResponse, (request, at) =>
      tasks.listTasks(request, at),
    ),
    waitForResult: call(wire.WaitForResultRequest, wire.WaitForResultResponse, (request, at) =>
      tasks.waitForResult(request, at),
    ),
    pause: call(wire.PauseRequest, wire.PauseResponse, (request) => tasks.pause(request)),
    resume: call(wire.ResumeRequest, wire.ResumeResponse, (request) => tasks.resume(request)),
    runNow: call(wire.RunNowRequest, wire.RunNowResponse, (request) => tasks.runNow(request)),
    streamResults: serverStream(
      { decode: (bytes) => toStreamWish(decodeMessage(wire.StreamResultsRequest, bytes)) },
      (wish, stream) => streaming.serve(wish, stream),
      log,
    ),
    ackResults: call(wire.AckResultsRequest, wire.AckResultsResponse, (request) =>
      consumers.ackResults(request),
    ),
    listConsumers: call(wire.ListConsumersRequest, wire.ListConsumersResponse, () =>
      consumers.listConsumers(),
    ),
    deleteConsumer: call(wire.DeleteConsumerRequest, wire.DeleteConsumerResponse, (request) =>
      consumers.deleteConsumer(request),
    ),
    previewRecurrence: call(wire.PreviewRecurrenceRequest, wire.PreviewRecurrenceResponse, (request) =>
      server.previewRecurrence(request),
    ),
    listHandlers: call(wire.ListHandlersRequest, wire.ListHandlersResponse, () => server.listHandlers()),
    getStats: call(wire.GetStatsRequest, wire.GetStatsResponse, () => server.getStats()),
    getServerInfo: call(wire.GetServerInfoRequest, wire.GetServerInfoResponse, () => server.getServerInfo()),
  }
}

function codec<Request, Response>(
  decode: Codec<Request, Response>['decode'],
  response: Encoder<Response>,
): Codec<Request, Response> {
  return {
    decode,
    encode: (message) => {
      try {
        return response.encode(message, writer).finish()
      } catch (error) {
        writer.finish()
        throw error
      }
    },
  }
}
