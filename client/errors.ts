import { type ServiceError, status } from '@grpc/grpc-js'
import type { ItemError } from '../proto/generated/punctual/v1/scheduler_service.js'
import { readDetails } from './error-details.js'
import * as errors from './punctual-error.js'

export * from './punctual-error.js'

type ErrorClass = new (facts: errors.ErrorFacts) => errors.PunctualError

/** The mirror of the server's table of reasons. */
const BY_REASON: Readonly<Record<string, ErrorClass>> = {
  INVALID_TASK: errors.TaskRejectedError,
  UNKNOWN_HANDLER: errors.TaskRejectedError,
  INVALID_REQUEST: errors.InvalidRequestError,
  TASK_EXISTS: errors.TaskExistsError,
  TASK_NOT_FOUND: errors.TaskNotFoundError,
  TASK_ENDED: errors.TaskEndedError,
  TOO_MANY_TASKS: errors.ServerFullError,
  TOO_MANY_STREAMS: errors.ServerFullError,
  STORE_FULL: errors.ServerFullError,
  CURSOR_EXPIRED: errors.CursorLostError,
  CURSOR_UNKNOWN: errors.CursorLostError,
  LOG_REPLACED: errors.CursorLostError,
  CONSUMER_TAKEN_OVER: errors.ConsumerTakenOverError,
  CONSUMER_MISMATCH: errors.ConsumerMismatchError,
  CONSUMER_NOT_FOUND: errors.ConsumerNotFoundError,
  TOO_MANY_CONSUMERS: errors.ServerFullError,
  DRAINING: errors.UnavailableError,
  STORE_UNAVAILABLE: errors.UnavailableError,
  NOT_BUILT: errors.NotBuiltError,
}

/** For what comes without a reason of ours: from a proxy, a broken connection, or an older server. */
const BY_CODE: Partial<Record<number, ErrorClass>> = {
  [status.UNAVAILABLE]: errors.UnavailableError,
  [status.DEADLINE_EXCEEDED]: errors.DeadlineExceededError,
  [status.UNIMPLEMENTED]: errors.NotBuiltError,
  [status.INVALID_ARGUMENT]: errors.InvalidRequestError,
}

/** Name of a gRPC status, such as NOT_FOUND. */
export const statusName = (code: number): string => status[code] ?? String(code)

/** Codes after which the same stream would only fail again. */
const FINAL_FOR_STREAMS: ReadonlySet<string> = new Set(
  [
    status.INVALID_ARGUMENT,
    status.NOT_FOUND,
    status.ALREADY_EXISTS,
    status.PERMISSION_DENIED,
    status.UNAUTHENTICATED,
    status.FAILED_PRECONDITION,
    status.OUT_OF_RANGE,
    status.UNIMPLEMENTED,
  ].map(statusName),
)

/** How grpc-js wraps the one thing that matters: why it could not connect. */
const NOT_CONNECTED = /^No connection established\. Last error: (?:Error: )?(.*?)\.? Resolution note: *$/s

/** What the caller gets for what grpc-js reports. */
export function fromServiceError(error: ServiceError): errors.PunctualError {
  const details = readDetails(error.metadata)
  // where the call was made; without the trailers, which would fill a log
  const cause = new Error(error.message)
  if (error.stack !== undefined) cause.stack = error.stack
  return errorOf(error.code, {
    message: error.details === '' ? error.message : error.details.replace(NOT_CONNECTED, '$1'),
    ...details,
    cause,
  })
}

/** What the caller gets for one refused task of a batch: the error that the single call would have had. */
export function fromItemError(item: ItemError): errors.PunctualError {
  const { code, reason, violations } = item
  const named = violations.map(({ field, description }) => `${field}: ${description}`)
  const message = [...named, ...(item.message === '' ? [] : [item.message])].join('; ')
  return errorOf(code, { message, reason, violations })
}

function errorOf(code: number, facts: errors.ErrorFacts): errors.PunctualError {
  const known = BY_REASON[facts.reason ?? ''] ?? BY_CODE[code] ?? errors.PunctualError
  return new known({ ...facts, code: statusName(code) })
}

/**
 * Can the same call succeed a little later? What is full without a reason of ours is a message over the limit of gRPC: it would only
 * fail again.
 */
export function isWorthRetrying(error: errors.PunctualError): boolean {
  if (error.code === statusName(status.UNAVAILABLE)) return true
  return error.code === statusName(status.RESOURCE_EXHAUSTED) && error.reason !== ''
}

/** Did the server itself refuse the call, so that certainly nothing of it was done? */
export const wasNotDone = (error: errors.PunctualError): boolean => error.reason !== ''

/**
 * Can a stream go on after this? Everything that a lost connection or a stopping server may look like. What is full can only when the server says that waiting helps:
 * too many consumers stay too many until somebody deletes one.
 */
export function isWorthResuming(error: errors.PunctualError): boolean {
  if (error instanceof errors.ConsumerTakenOverError || error instanceof errors.ClientClosedError)
    return false
  if (error.code === statusName(status.RESOURCE_EXHAUSTED)) return error.retryAfterMs !== undefined
  return error.code !== '' && !FINAL_FOR_STREAMS.has(error.code)
}
