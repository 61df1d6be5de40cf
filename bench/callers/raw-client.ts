import { credentials } from '@grpc/grpc-js'
import { OutputFormat } from '../../proto/generated/punctual/v1/result.js'
import {
  type CancelBatchResponse,
  type GetTaskResponse,
  type Position,
  type ScheduleBatchResponse,
  type ScheduleRequest,
  type ScheduleResponse,
  SchedulerServiceClient,
  type StreamResultsRequest,
} from '../../proto/generated/punctual/v1/scheduler_service.js'

/** About 60 bytes of JSON, which is also what comes back. */
const INPUT = '{"n":1,"text":"hello world, hello world, hello world"}'

/** A caller without the project's SDK: the generated client, stock grpc-js, its window as PERFORMANCE asks of a client that reads much. */
export class RawClient {
  readonly stub: SchedulerServiceClient

  constructor(address: string) {
    this.stub = new SchedulerServiceClient(address, credentials.createInsecure(), {
      'grpc-node.flow_control_window': 4 * 1024 * 1024,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': 16 * 1024 * 1024,
    })
  }

  async ready(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.stub.waitForReady(Date.now() + 20_000, (error) => (error ? reject(error) : resolve()))
    })
    return this
  }

  schedule(request: ScheduleRequest): Promise<ScheduleResponse> {
    return new Promise((resolve, reject) => {
      this.stub.schedule(request, (error, response) => (error ? reject(error) : resolve(response)))
    })
  }

  /** @throws Error when one of them was refused. */
  async scheduleBatch(requests: ScheduleRequest[]): Promise<ScheduleBatchResponse> {
    const response = await new Promise<ScheduleBatchResponse>((resolve, reject) => {
      this.stub.scheduleBatch({ requests }, (error, answer) => (error ? reject(error) : resolve(answer)))
    })
    const refused = response.answers.find((answer) => answer.error)
    if (refused?.error) throw new Error(`refused: ${refused.error.message}`)
    return response
  }

  getTask(id: string): Promise<GetTaskResponse> {
    return new Promise((resolve, reject) => {
      this.stub.getTask({ id, outputFormat: OutputFormat.JSON }, (error, response) =>
        error ? reject(error) : resolve(response),
      )
    })
  }

  cancel(id: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.stub.cancel({ id, grace: undefined }, (error) => (error ? reject(error) : resolve()))
    })
  }

  cancelBatch(ids: string[]): Promise<CancelBatchResponse> {
    return new Promise((resolve, reject) => {
      const request = { ids, filter: undefined, grace: undefined, dryRun: false }
      this.stub.cancelBatch(request, (error, response) => (error ? reject(error) : resolve(response)))
    })
  }

  close(): void {
    this.stub.close()
  }
}

/** What a task of the bench may say beyond its input. */
export interface TaskWish {
  readonly handler?: string
  readonly dueInMs?: number
  readonly priority?: number
  readonly traceparent?: string
  readonly labels?: Record<string, string>
}

/** One task as the generated client sends it. */
export function taskMessage({
  handler = 'echo',
  dueInMs = 0,
  priority = 0,
  traceparent = '',
  labels = {},
}: TaskWish = {}): ScheduleRequest {
  const delay = { seconds: BigInt(Math.floor(dueInMs / 1_000)), nanos: Math.round((dueInMs % 1_000) * 1e6) }
  return {
    task: {
      id: '',
      handler,
      payload: { $case: 'inputJson', value: INPUT },
      when: dueInMs > 0 ? { $case: 'delay', value: delay } : undefined,
      recurrence: undefined,
      retry: undefined,
      attemptTimeout: undefined,
      startWithin: undefined,
      priority,
      concurrencyKey: '',
      atMostOnce: false,
      labels,
      traceparent,
      tracestate: '',
      origin: '',
      rememberIdFor: undefined,
    },
    onConflict: 0,
    requestId: '',
  }
}

/** A stream of results from a position on. */
export function streamMessage(position: Position, stopWhenCaughtUp = false): StreamResultsRequest {
  return {
    filter: undefined,
    start: { $case: 'position', value: position },
    stopWhenCaughtUp,
    heartbeatInterval: undefined,
    includeAttempts: false,
    consumer: '',
    lossy: false,
    outputFormat: OutputFormat.JSON,
  }
}
