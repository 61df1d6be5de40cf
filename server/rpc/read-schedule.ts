import { OnConflict as WireConflict } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { FIXED_LIMITS } from '../admission/limits.js'
import { notBuilt } from '../admission/not-built.js'
import type { OnConflict, ScheduleCall } from '../admission/schedule-call.js'
import type { Slices } from '../clock/slices.js'
import { InvalidRequestError, type Violation } from '../task/errors.js'
import { type ReadSpec, TaskSpecReader } from './read-task-spec.js'
import { wordOf } from './translate-enums.js'
import { WireReader } from './wire-reader.js'

/** Trace context of the call: holds for tasks that bring none of their own. */
export interface CallTrace {
  readonly traceparent: string
  readonly tracestate: string
}

const CONFLICTS = {
  sameSpec: WireConflict.UNSPECIFIED,
  keep: WireConflict.KEEP,
  replace: WireConflict.REPLACE,
} as const satisfies Record<OnConflict, WireConflict>

/** Reads a `punctual.v1.ScheduleRequest`. @throws BrokenMessageError */
export function readSchedule(bytes: Buffer, trace: CallTrace): ScheduleCall {
  const reader = new WireReader(bytes)
  return readCall(reader, reader.len, trace)
}

/**
 * Reads a `punctual.v1.ScheduleBatchRequest`, in slices.
 *
 * @throws InvalidRequestError when it holds none or too many; SchedulerError NOT_BUILT for what only a newer server knows. @throws BrokenMessageError
 */
export async function readScheduleBatch(
  bytes: Buffer,
  trace: CallTrace,
  slices: Slices,
): Promise<ScheduleCall[]> {
  const reader = new WireReader(bytes)
  const calls: ScheduleCall[] = []
  const unknown: string[] = []
  let count = 0
  while (reader.pos < reader.len) {
    const pause = slices.next()
    if (pause) await pause
    const tag = reader.uint32()
    if (tag !== 10) {
      unknown.push(`request (field ${tag >>> 3})`)
      reader.skipField(tag)
      continue
    }
    const end = reader.end()
    count += 1
    // beyond the limit they are only counted
    if (count <= FIXED_LIMITS.maxBatchTasks) calls.push(readCall(reader, end, trace))
    else reader.pos = end
  }
  reader.expectEnd(reader.len)
  if (unknown.length > 0) throw notBuilt(unknown)
  if (count === 0 || count > FIXED_LIMITS.maxBatchTasks) {
    const description = `must be 1 to ${FIXED_LIMITS.maxBatchTasks} (max_batch_tasks), got ${count}`
    throw new InvalidRequestError([{ field: 'requests', description }], 'INVALID_REQUEST')
  }
  return calls
}

function readCall(reader: WireReader, end: number, trace: CallTrace): ScheduleCall {
  const violations: Violation[] = []
  const unknownFields: string[] = []
  let read: ReadSpec | undefined
  let conflict: number = WireConflict.UNSPECIFIED
  let requestId = ''
  while (reader.pos < end) {
    const tag = reader.uint32()
    if (tag === 10) read = new TaskSpecReader(reader, violations).read(reader.end(end))
    else if (tag === 16) conflict = reader.int32()
    else if (tag === 26) requestId = reader.string()
    else {
      unknownFields.push(`request (field ${tag >>> 3})`)
      reader.skipField(tag)
    }
  }
  reader.expectEnd(end)
  if (reader.badText) {
    reader.badText = false
    violations.push({ field: 'request_id', description: 'is not valid UTF-8 text' })
  }
  if (!read) violations.push({ field: 'task', description: 'is required' })
  const onConflict = wordOf(CONFLICTS, conflict)
  if (!onConflict) {
    const description = `${conflict} is no value that this server knows: KEEP, REPLACE or unset`
    violations.push({ field: 'on_conflict', description })
  }
  const { spec, payloadField } = read ?? new TaskSpecReader(reader, violations).read(reader.pos)
  const traced = spec.traceparent === '' && trace.traceparent !== '' ? { ...spec, ...trace } : spec
  return {
    spec: traced,
    onConflict: onConflict ?? 'sameSpec',
    requestId,
    payloadField,
    violations,
    unknownFields: [...unknownFields, ...(read?.unknownFields ?? [])],
  }
}
