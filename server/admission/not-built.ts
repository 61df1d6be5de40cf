import { SchedulerError } from '../task/errors.js'

/**
 * The refusal of a request that uses what only a newer server knows: by its number, never accepted and ignored.
 *
 * @param fields - Where it stood, such as `task (field 31)`.
 */
export function notBuilt(fields: readonly string[]): SchedulerError {
  const names = fields.slice(0, 20).join(', ')
  return new SchedulerError(
    'NOT_BUILT',
    `this server cannot do what is asked for in: ${names}. Leave it out, or use a newer server`,
    { fields: names },
  )
}
