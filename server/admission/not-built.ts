import { SchedulerError } from '../task/errors.js'
import type { TaskSpec } from '../task/task-spec.js'
import type { ScheduleCall } from './schedule-call.js'

/** Fields that are in the contract and whose mechanism is not there yet: refused by name, never accepted and ignored. Shrinks to nothing. */
const NOT_BUILT: readonly { readonly field: string; readonly used: (spec: TaskSpec) => boolean }[] = []

/** @returns the refusal of a call that uses what this server cannot do: a field not built yet, or one that a newer client knows and this server does not. */
export function notBuilt(call: ScheduleCall): SchedulerError | undefined {
  const fields = [
    ...NOT_BUILT.filter(({ used }) => used(call.spec)).map(({ field }) => field),
    ...call.unknownFields,
  ]
  if (fields.length === 0) return undefined
  const names = fields.slice(0, 20).join(', ')
  return new SchedulerError(
    'NOT_BUILT',
    `this server cannot do what is asked for in: ${names}. Leave it out, or use a newer server`,
    { fields: names },
  )
}
