import { type ClientClock, MAX_DEADLINE_MS, realClock } from './client-clock.js'

/** What every call takes. */
export interface CallOptions {
  /** How long the call may take, tries included; default {@link ClientOptions.deadlineMs}. */
  readonly deadlineMs?: number
  /** Ends the call early with an AbortError. */
  readonly signal?: AbortSignal
}

/** What a call that waits for a result takes: it has no deadline unless asked for. */
export interface WaitOptions {
  /** Which run; left out: a one-shot task's only result, a recurring task's next run to end. */
  readonly run?: number
  /** Gives up with a DeadlineExceededError after this long. */
  readonly timeoutMs?: number
  /** Ends the wait early with an AbortError. */
  readonly signal?: AbortSignal
}

/** Certificates of a connection, PEM. */
export interface TlsOptions {
  /** Whom to trust; default: the machine's own list. */
  readonly ca?: string | Uint8Array
  /** The client's own certificate, where the server asks for one. */
  readonly cert?: string | Uint8Array
  readonly key?: string | Uint8Array
  /** Name in the server's certificate, when it is reached by another. */
  readonly serverName?: string
}

/** Options of `createClient()`. */
export interface ClientOptions {
  /** host:port of the server, such as localhost:50051. */
  readonly address: string
  /** `true`: encrypted, trusting the machine's list. Left out: not encrypted. */
  readonly tls?: boolean | TlsOptions
  /** How long a call may take, tries included. Default 30,000; at most 24 days. */
  readonly deadlineMs?: number
  /**
   * `schedule()` calls that are made while another is under way travel together as one batch (default). A call that is alone is sent at
   * once; under load a call waits for the batch before it, a few milliseconds. `false`: each call travels by itself.
   */
  readonly coalesce?: boolean
  /** Tries a call again, with back-off and within its deadline, when the server cannot be reached or is full. Default true. */
  readonly retry?: boolean
  /** How often the server proves that a silent stream lives; after three times this without a word the stream is opened anew. Default 5,000. */
  readonly heartbeatMs?: number
  /** Told of each break of a stream that is about to be resumed: for logs. */
  readonly onBreak?: (error: Error) => void
  /** @internal For tests. */
  readonly clock?: ClientClock
  /** @internal For tests: in [0, 1). */
  readonly random?: () => number
}

/** Options, complete. */
export interface CompleteOptions {
  readonly address: string
  readonly tls: TlsOptions | undefined
  readonly deadlineMs: number
  readonly coalesce: boolean
  readonly retry: boolean
  readonly heartbeatMs: number
  readonly onBreak: (error: Error) => void
  readonly clock: ClientClock
  readonly random: () => number
}

/** How long a heartbeat may be on the server's side. */
const HEARTBEAT_LIMITS_MS = { min: 100, max: 10 * 60_000 }

/**
 * Completes and checks what was given.
 *
 * @throws RangeError naming option and value.
 */
export function completeOptions(given: ClientOptions): CompleteOptions {
  if (typeof given.address !== 'string' || !/^.+:\d{1,5}$/.test(given.address)) {
    throw new RangeError(`address must be host:port, such as localhost:50051; got ${given.address}`)
  }
  const heartbeatMs = given.heartbeatMs ?? 5_000
  if (!(heartbeatMs >= HEARTBEAT_LIMITS_MS.min && heartbeatMs <= HEARTBEAT_LIMITS_MS.max)) {
    throw new RangeError(`heartbeatMs must be 100 to 600000, got ${heartbeatMs}`)
  }
  return Object.freeze({
    address: given.address,
    tls: tlsOf(given.tls),
    deadlineMs: checkDeadline(given.deadlineMs ?? 30_000, 'deadlineMs'),
    coalesce: given.coalesce ?? true,
    retry: given.retry ?? true,
    heartbeatMs,
    onBreak: given.onBreak ?? (() => {}),
    clock: given.clock ?? realClock,
    random: given.random ?? Math.random,
  })
}

/**
 * A deadline that can be kept: grpc-js fails one beyond 24.8 days at once, and throws where nobody can catch it for NaN.
 *
 * @throws RangeError naming option and value.
 */
export function checkDeadline(ms: number, option: string): number {
  if (ms > 0 && ms <= MAX_DEADLINE_MS) return ms
  throw new RangeError(
    `${option} must be more than 0 and at most 24 days (${MAX_DEADLINE_MS} milliseconds), got ${ms}`,
  )
}

function tlsOf(tls: ClientOptions['tls']): TlsOptions | undefined {
  if (tls === undefined || tls === false) return undefined
  const options = tls === true ? {} : tls
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw new RangeError('tls.cert and tls.key belong together: give both or none')
  }
  return options
}
