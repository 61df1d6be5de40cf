import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { ScheduleRequest } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { TaskSpec } from '../../proto/generated/punctual/v1/task.js'
import type { ScheduleCall } from '../../server/admission/schedule-call.js'
import { readSchedule } from '../../server/rpc/read-schedule.js'

export const UNTRACED = { traceparent: '', tracestate: '' }

/** The bytes of a request to schedule. */
export function encode(request: Partial<ScheduleRequest>): Buffer {
  return Buffer.from(ScheduleRequest.encode({ ...ScheduleRequest.create(), ...request }).finish())
}

export const aTask = (task: Partial<TaskSpec>): TaskSpec => ({ ...TaskSpec.create(), ...task })
export const read = (request: Partial<ScheduleRequest>): ScheduleCall =>
  readSchedule(encode(request), UNTRACED)
export const readTask = (task: Partial<TaskSpec>): ScheduleCall => read({ task: aTask(task) })
export const fieldsOf = (call: ScheduleCall): string[] => call.violations.map(({ field }) => field)

/** Reads a task whose fields are written by hand: what generated code would not write. */
export function readRawTask(write: (writer: BinaryWriter) => BinaryWriter): ScheduleCall {
  const request = new BinaryWriter().uint32(10).fork()
  return readSchedule(Buffer.from(write(request).join().finish()), UNTRACED)
}
