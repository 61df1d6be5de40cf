import { Metadata, status } from '@grpc/grpc-js'
import { BadRequest, ErrorInfo, RetryInfo } from '../../proto/generated/google/rpc/error_details.js'
import { Status } from '../../proto/generated/google/rpc/status.js'

/** What a scripted answer of the fake server fails with. */
export class RpcError extends Error {
  readonly code: status
  readonly metadata: Metadata

  constructor(code: keyof typeof status, message: string, details: RpcErrorDetails = {}) {
    super(message)
    this.code = status[code]
    this.metadata = trailers(this.code, message, details)
  }
}

interface RpcErrorDetails {
  readonly reason?: string
  readonly facts?: Record<string, string>
  readonly violations?: readonly { readonly field: string; readonly description: string }[]
  readonly retryAfterMs?: number
}

function trailers(code: status, message: string, details: RpcErrorDetails): Metadata {
  const { reason, facts = {}, violations, retryAfterMs } = details
  const any = (name: string, value: Uint8Array) => ({
    typeUrl: `type.googleapis.com/google.rpc.${name}`,
    value: Buffer.from(value),
  })
  const packed = []
  if (reason !== undefined) {
    packed.push(any('ErrorInfo', ErrorInfo.encode({ reason, domain: 'punctual', metadata: facts }).finish()))
  }
  if (violations !== undefined) {
    packed.push(any('BadRequest', BadRequest.encode({ fieldViolations: [...violations] }).finish()))
  }
  if (retryAfterMs !== undefined) {
    const retryDelay = { seconds: 0n, nanos: retryAfterMs * 1_000_000 }
    if (retryAfterMs >= 1_000) {
      retryDelay.seconds = BigInt(Math.floor(retryAfterMs / 1_000))
      retryDelay.nanos = (retryAfterMs % 1_000) * 1_000_000
    }
    packed.push(any('RetryInfo', RetryInfo.encode({ retryDelay }).finish()))
  }
  const metadata = new Metadata()
  if (packed.length > 0) {
    const encoded = Status.encode({ code, message, details: packed }).finish()
    metadata.set('grpc-status-details-bin', Buffer.from(encoded))
  }
  return metadata
}
