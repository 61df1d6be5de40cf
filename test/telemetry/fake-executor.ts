import type {
  AttemptEnd,
  AttemptRequest,
  Executor,
  ExecutorEvents,
  Lane,
} from '../../server/executor/executor.js'
import { NO_PAYLOAD } from '../../server/task/task-spec.js'

/** An executor that runs nothing: it notes what it was given, and the test tells what happened. */
export class FakeExecutor implements Executor {
  readonly slots = { thread: 2, shared: 256 }
  readonly started: { readonly lane: Lane; readonly burst: readonly AttemptRequest[] }[] = []
  readonly stopped: (readonly [startId: number, graceMs: number])[] = []
  closed = false
  #events: ExecutorEvents | undefined

  /** What happens is told through this. */
  get tell(): ExecutorEvents {
    if (this.#events === undefined) throw new Error('nobody listens')
    return this.#events
  }

  /** The only attempt that was given, as it reached the executor. */
  get request(): AttemptRequest {
    const request = this.started.at(-1)?.burst.at(-1)
    if (request === undefined) throw new Error('nothing was started')
    return request
  }

  listen(events: ExecutorEvents): void {
    this.#events = events
  }

  start(lane: Lane, burst: readonly AttemptRequest[]): void {
    this.started.push({ lane, burst })
  }

  stop(startId: number, graceMs: number): boolean {
    this.stopped.push([startId, graceMs])
    return true
  }

  close(): Promise<void> {
    this.closed = true
    return Promise.resolve()
  }
}

/** 2030-01-01, when everything in these tests happens. */
export const DUE = Date.UTC(2030, 0, 1)

export function attemptRequest(given: Partial<AttemptRequest> = {}): AttemptRequest {
  return {
    startId: 1,
    taskId: 'task-1',
    handler: 'fibonacci',
    run: 1,
    attempt: 1,
    payload: NO_PAYLOAD,
    timeoutMs: 0,
    dueTime: DUE,
    notBefore: DUE,
    createTime: DUE - 5_000,
    labels: {},
    traceparent: '',
    tracestate: '',
    alone: false,
    ...given,
  }
}

/** An attempt that began 1.5 ms after it was due and ended 20 ms later. */
export function attemptEnd(given: Partial<AttemptEnd> = {}): AttemptEnd {
  return {
    startId: 1,
    outcome: { kind: 'succeeded', output: NO_PAYLOAD },
    startTimeUs: DUE * 1_000 + 1_500,
    endTimeUs: DUE * 1_000 + 21_500,
    workerId: 'thread-1',
    ...given,
  }
}
