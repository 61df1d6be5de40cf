import { SchedulerError } from '../task/errors.js'
import type { ScheduleCall } from './schedule-call.js'

/** @returns the refusal of a call that uses what only a newer server knows: refused by its number, never accepted and ignored. */
export function notBuilt(call: ScheduleCall): SchedulerError | undefined {
  if (call.unknownFields.length === 0) return undefined
  const names = call.unknownFields.slice(0, 20).join(', ')
  return new SchedulerError(
    'NOT_BUILT',
    `this server cannot do what is asked for in: ${names}. Leave it out, or use a newer server`,
    { fields: names },
  )
}
