import type { PreviewedDueTime, Recurrence } from '../client/index.js'
import { preview } from '../server/task/recurrence/preview.js'
import { completeRecurrence, validateRecurrence } from '../server/task/recurrence/validate-recurrence.js'

/**
 * The due times of a recurrence without a server: what a server of this version would say, by the same rules, on this machine's clock and time zones.
 *
 * @throws RangeError that names each field that is wrong.
 */
export function previewHere(
  recurrence: Recurrence,
  { from, count, id }: { readonly from: Date; readonly count: number; readonly id?: string },
): readonly PreviewedDueTime[] {
  const input = { ...recurrence, until: recurrence.until?.getTime() }
  const wrong = validateRecurrence(input, 'recurrence')
  if (wrong.length > 0)
    throw new RangeError(wrong.map(({ field, description }) => `${field}: ${description}`).join('; '))
  const options = { from: from.getTime(), count, ...(id !== undefined && { id }) }
  return preview(completeRecurrence(input), options).map(({ due, localTime, mark }) => ({
    dueTime: new Date(due),
    localTime,
    mark,
  }))
}
