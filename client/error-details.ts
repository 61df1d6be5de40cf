import type { Metadata } from '@grpc/grpc-js'
import { BadRequest, ErrorInfo, RetryInfo } from '../proto/generated/google/rpc/error_details.js'
import { Status } from '../proto/generated/google/rpc/status.js'
import type { ErrorFacts } from './punctual-error.js'
import { durationMs } from './wire-time.js'

const TRAILER = 'grpc-status-details-bin'
const TYPE = 'type.googleapis.com/google.rpc.'

/** The google.rpc details of a failed call: reason, violations, when to try again. What cannot be read is left out, never thrown. */
export function readDetails(trailers: Metadata | undefined): Omit<ErrorFacts, 'message'> {
  const encoded = trailers?.get(TRAILER)[0]
  if (!Buffer.isBuffer(encoded)) return {}
  const facts: { -readonly [K in keyof ErrorFacts]?: ErrorFacts[K] } = {}
  try {
    for (const { typeUrl, value } of Status.decode(encoded).details) {
      if (typeUrl === `${TYPE}ErrorInfo`) {
        const { reason, metadata } = ErrorInfo.decode(value)
        facts.reason = reason
        facts.metadata = metadata
      } else if (typeUrl === `${TYPE}BadRequest`) {
        facts.violations = BadRequest.decode(value).fieldViolations
      } else if (typeUrl === `${TYPE}RetryInfo`) {
        facts.retryAfterMs = durationMs(RetryInfo.decode(value).retryDelay)
      }
    }
  } catch {
    // a proxy may write anything there; the status itself still tells
  }
  return facts
}
