import type { ScheduleRequest } from '../proto/generated/punctual/v1/scheduler_service.js'
import type { TaskSpec } from '../proto/generated/punctual/v1/task.js'

/** Times, numbers, flags, and the tags and lengths of every field. */
const FIXED_BYTES = 384

/** A UTF-16 unit takes at most three bytes of UTF-8. */
const BYTES_PER_UNIT = 3

/** Tags and lengths of one entry of a map or list. */
const ENTRY_BYTES = 12

/** How many bytes a request takes at most: cheaper than to encode it twice. */
export function encodedSizeAtMost({ task, requestId }: ScheduleRequest): number {
  let units = requestId.length
  if (task === undefined) return FIXED_BYTES + units * BYTES_PER_UNIT
  units += task.id.length + task.handler.length + task.concurrencyKey.length + task.origin.length
  units += task.traceparent.length + task.tracestate.length
  let bytes = FIXED_BYTES + payloadBytes(task)
  for (const [key, value] of Object.entries(task.labels)) {
    units += key.length + value.length
    bytes += ENTRY_BYTES
  }
  for (const code of task.retry?.nonRetryableCodes ?? []) {
    units += code.length
    bytes += ENTRY_BYTES
  }
  if (task.recurrence !== undefined) {
    units += task.recurrence.timeZone.length
    if (task.recurrence.rule?.$case === 'cron') units += task.recurrence.rule.value.length
  }
  return bytes + units * BYTES_PER_UNIT
}

function payloadBytes({ payload }: TaskSpec): number {
  switch (payload?.$case) {
    case 'inputJson':
      return Buffer.byteLength(payload.value)
    case 'inputBytes':
      return payload.value.byteLength
    case 'input':
    case undefined:
      // the client sends JSON text, never a Value
      return 0
  }
}
