import { TaskResult as WireResult } from '../../proto/generated/punctual/v1/result.js'
import type { Timestamp } from '../../proto/generated/google/protobuf/timestamp.js'
import type { AttemptError } from '../task/outcome.js'
import type { TaskResult } from '../task/result.js'
import { NO_PAYLOAD, type Payload } from '../task/task-spec.js'
import { CANCEL_STAGES, OUTCOMES, RESULT_KINDS, SKIP_REASONS, wordOf } from './translate-enums.js'

/**
 * The result in the bytes that `encodeResult` wrote.
 *
 * @returns undefined when these are no such bytes, or those of a version that knows other words.
 */
export function decodeResult(bytes: Uint8Array): TaskResult | undefined {
  const wire = decoded(bytes)
  const kind = wire && wordOf(RESULT_KINDS, wire.kind)
  const outcome = wire && wordOf(OUTCOMES, wire.outcome)
  if (!kind || !outcome || !wire.dueTime) return undefined
  const skipReason = wordOf(SKIP_REASONS, wire.skipReason)
  const cancelStage = wordOf(CANCEL_STAGES, wire.cancelStage)
  // not by way of µs, which would not be exact beyond the year 2255
  const dueTime = Number(wire.dueTime.seconds) * 1_000 + Math.floor(wire.dueTime.nanos / 1_000_000)
  return {
    kind,
    taskId: wire.taskId,
    handler: wire.handler,
    run: Number(wire.run),
    attempts: wire.attempts,
    interruptions: wire.interruptedAttempts,
    outcome,
    output: payloadOf(wire),
    ...(wire.error && { error: errorOf(wire.error) }),
    dueTime,
    notBefore: dueTime,
    startTimeUs: micros(wire.startTime),
    endTimeUs: micros(wire.endTime),
    workerId: wire.workerId,
    labels: wire.labels,
    traceId: wire.traceId,
    origin: wire.origin,
    last: wire.last,
    ...(skipReason && { skipReason }),
    skippedCount: Number(wire.skippedCount),
    ...(cancelStage && { cancelStage }),
    manual: wire.manual,
  }
}

function decoded(bytes: Uint8Array): WireResult | undefined {
  try {
    return WireResult.decode(bytes)
  } catch {
    return undefined
  }
}

function payloadOf({ payload }: WireResult): Payload {
  if (payload?.$case === 'outputJson') return { kind: 'json', text: payload.value }
  if (payload?.$case === 'outputBytes') return { kind: 'bytes', bytes: new Uint8Array(payload.value) }
  return NO_PAYLOAD
}

const errorOf = ({ code, message, stack, name, cause }: AttemptError): AttemptError => ({
  code,
  message,
  stack,
  name,
  cause,
})

/** µs since 1970; 0 = there is none. */
const micros = (time: Timestamp | undefined): number =>
  time === undefined ? 0 : Number(time.seconds) * 1_000_000 + Math.floor(time.nanos / 1_000)
