import type { Any } from '../../proto/generated/google/protobuf/any.js'
import {
  BadRequest,
  ErrorInfo,
  QuotaFailure,
  ResourceInfo,
  RetryInfo,
} from '../../proto/generated/google/rpc/error_details.js'
import { Status } from '../../proto/generated/google/rpc/status.js'
import type { ErrorReason, Violation } from '../task/errors.js'
import { cut } from './cut.js'
import { fromMs } from './translate-time.js'

/** Whose reasons they are. */
const DOMAIN = 'punctual'
const MAX_VIOLATIONS = 20
const MAX_DETAIL_BYTES = 2_048
const MAX_FACT_BYTES = 256

/** What is known of an error. */
export interface ErrorFacts {
  readonly code: number
  readonly message: string
  readonly reason: ErrorReason | 'INTERNAL'
  readonly facts: Readonly<Record<string, string>>
  readonly violations?: readonly Violation[]
  readonly retryAfterMs?: number | undefined
}

/** Reasons that are about a task. */
const ABOUT_TASK: ReadonlySet<string> = new Set<ErrorReason>(['TASK_EXISTS', 'TASK_NOT_FOUND', 'TASK_ENDED'])
const ABOUT_CONSUMER: ReadonlySet<string> = new Set<ErrorReason>([
  'CONSUMER_TAKEN_OVER',
  'CONSUMER_MISMATCH',
  'CONSUMER_NOT_FOUND',
])
const ABOUT_QUOTA: ReadonlySet<string> = new Set<ErrorReason>([
  'TOO_MANY_TASKS',
  'TOO_MANY_STREAMS',
  'TOO_MANY_CONSUMERS',
  'STORE_FULL',
])

/** A serialized `google.rpc.Status` with the details that fit the reason; `ErrorInfo` always. */
export function detailsOf(error: ErrorFacts): Buffer {
  const { code, message, reason, facts, violations = [], retryAfterMs } = error
  const details: Any[] = [
    pack('ErrorInfo', ErrorInfo, { reason, domain: DOMAIN, metadata: metadataOf(facts, violations) }),
  ]
  if (violations.length > 0)
    details.push(pack('BadRequest', BadRequest, { fieldViolations: shortened(violations) }))
  const [resourceType, resourceName] = resourceOf(reason, facts)
  if (resourceType) {
    const resource = {
      resourceType,
      resourceName: cut(resourceName, MAX_FACT_BYTES),
      owner: '',
      description: '',
    }
    details.push(pack('ResourceInfo', ResourceInfo, resource))
  }
  if (ABOUT_QUOTA.has(reason)) {
    details.push(
      pack('QuotaFailure', QuotaFailure, { violations: [{ subject: reason, description: message }] }),
    )
  }
  if (retryAfterMs !== undefined)
    details.push(pack('RetryInfo', RetryInfo, { retryDelay: fromMs(retryAfterMs) }))
  return Buffer.from(Status.encode({ code, message, details }).finish())
}

function resourceOf(reason: string, facts: Readonly<Record<string, string>>): readonly [string, string] {
  if (ABOUT_TASK.has(reason)) return ['punctual.v1.Task', facts.task_id ?? '']
  if (ABOUT_CONSUMER.has(reason)) return ['punctual.v1.Consumer', facts.consumer ?? '']
  return ['', '']
}

function metadataOf(
  facts: Readonly<Record<string, string>>,
  violations: readonly Violation[],
): Record<string, string> {
  const metadata: Record<string, string> = {}
  for (const [key, value] of Object.entries(facts)) metadata[key] = cut(value, MAX_FACT_BYTES)
  if (violations.length > 0) metadata.violations = String(violations.length)
  return metadata
}

/** The first 20; the more there are, the shorter each. How many there were is in ErrorInfo. */
function shortened(violations: readonly Violation[]): Violation[] {
  const first = violations.slice(0, MAX_VIOLATIONS)
  const room = Math.floor(MAX_DETAIL_BYTES / first.length)
  return first.map(({ field, description }) => {
    const name = cut(field, Math.floor(room / 2))
    return { field: name, description: cut(description, room - Buffer.byteLength(name)) }
  })
}

function pack<T>(name: string, codec: { encode(message: T): { finish(): Uint8Array } }, message: T): Any {
  return {
    typeUrl: `type.googleapis.com/google.rpc.${name}`,
    value: Buffer.from(codec.encode(message).finish()),
  }
}
