import { status } from '@grpc/grpc-js'
import type { ItemError } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { type ErrorReason, InvalidRequestError, SchedulerError } from '../task/errors.js'
import { cut } from './cut.js'
import { detailsOf } from './error-details.js'

/** The one table of reasons and gRPC codes; a new reason does not compile without a code. */
const CODES: Readonly<Record<ErrorReason, status>> = {
  INVALID_TASK: status.INVALID_ARGUMENT,
  INVALID_REQUEST: status.INVALID_ARGUMENT,
  UNKNOWN_HANDLER: status.INVALID_ARGUMENT,
  TASK_EXISTS: status.ALREADY_EXISTS,
  TASK_NOT_FOUND: status.NOT_FOUND,
  TASK_ENDED: status.FAILED_PRECONDITION,
  TOO_MANY_TASKS: status.RESOURCE_EXHAUSTED,
  TOO_MANY_STREAMS: status.RESOURCE_EXHAUSTED,
  STORE_FULL: status.RESOURCE_EXHAUSTED,
  CURSOR_EXPIRED: status.OUT_OF_RANGE,
  CURSOR_UNKNOWN: status.INVALID_ARGUMENT,
  LOG_REPLACED: status.OUT_OF_RANGE,
  CONSUMER_TAKEN_OVER: status.ABORTED,
  CONSUMER_MISMATCH: status.FAILED_PRECONDITION,
  CONSUMER_NOT_FOUND: status.NOT_FOUND,
  TOO_MANY_CONSUMERS: status.RESOURCE_EXHAUSTED,
  DRAINING: status.UNAVAILABLE,
  STORE_UNAVAILABLE: status.UNAVAILABLE,
  NOT_BUILT: status.UNIMPLEMENTED,
}

/**
 * grpc-js hangs a call, and every other of its connection, on trailers of 100 kB, and some clients refuse headers over 8 kB: so each part of an error is kept this short.
 */
const MAX_MESSAGE_BYTES = 1_024
const MAX_ITEM_BYTES = 256

/** What the edge sends instead of an answer. */
export interface RpcError {
  readonly code: status
  readonly message: string
  /** A serialized `google.rpc.Status`, for the trailer `grpc-status-details-bin`. */
  readonly details: Buffer
}

/** What a thrown error becomes: known ones say what they know; anything else is INTERNAL, and the caller learns no more than the number to ask for. */
export function toRpcError(error: unknown, incident: string): RpcError {
  if (!(error instanceof SchedulerError)) {
    const message = `internal error, in the server's log as ${incident}`
    return {
      code: status.INTERNAL,
      message,
      details: detailsOf({ code: status.INTERNAL, message, reason: 'INTERNAL', facts: { incident } }),
    }
  }
  const code = CODES[error.reason]
  const message = cut(summary(error), MAX_MESSAGE_BYTES)
  return { code, message, details: detailsOf({ code, message, ...errorParts(error) }) }
}

/** What a refused item of a batch becomes: at most 256 bytes, so that 10,000 of them fit into a message. */
export function toItemError(error: SchedulerError): ItemError {
  const violations = error instanceof InvalidRequestError ? error.violations : []
  const [first] = violations
  const more = violations.length > 1 ? `${violations.length} fields are wrong` : ''
  return {
    code: CODES[error.reason],
    reason: error.reason,
    message: first ? more : cut(error.message, MAX_ITEM_BYTES - 48),
    violations: first ? [{ field: cut(first.field, 80), description: cut(first.description, 110) }] : [],
  }
}

/** Whether an error is none that the domain knows: a fault of this program, to be logged whole. */
export const isUnforeseen = (error: unknown): boolean => !(error instanceof SchedulerError)

function errorParts(error: SchedulerError) {
  return {
    reason: error.reason,
    facts: error.facts,
    violations: error instanceof InvalidRequestError ? error.violations : [],
    retryAfterMs: error.retryAfterMs,
  }
}

function summary(error: SchedulerError): string {
  if (!(error instanceof InvalidRequestError)) return error.message
  const [first] = error.violations
  const others = error.violations.length - 1
  const rest =
    others > 0 ? ` (and ${others} more ${others === 1 ? 'violation' : 'violations'}, see the details)` : ''
  return first ? `${cut(first.field, 160)}: ${cut(first.description, 700)}${rest}` : error.message
}
