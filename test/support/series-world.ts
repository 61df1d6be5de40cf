import type { RecurrenceInput } from '../../server/task/recurrence/recurrence.js'
import { completeRecurrence } from '../../server/task/recurrence/validate-recurrence.js'
import type { TaskResult } from '../../server/task/result.js'
import { SchedulerWorld, type WorldOptions } from './scheduler-world.js'
import type { GivenSpec } from './task-specs.js'
import { NOW } from './tasks.js'

/** A spec of the series `report`. */
export const rule = (recurrence: RecurrenceInput): GivenSpec => ({
  id: 'report',
  recurrence: completeRecurrence(recurrence),
})

/** A server that has the series `report`, whose runs take `workMs`. */
export async function worldWith(
  recurrence: RecurrenceInput,
  workMs = 0,
  { spec, ...options }: WorldOptions & { readonly spec?: GivenSpec } = {},
): Promise<SchedulerWorld> {
  const world = await SchedulerWorld.start({
    handlers: { work: (_, { sleep }) => sleep(workMs) },
    ...options,
  })
  await world.schedule({ ...rule(recurrence), ...spec })
  return world
}

/** Starts, in milliseconds since the series was accepted. */
export const starts = (world: SchedulerWorld): number[] => world.startsOf('report').map(({ at }) => at - NOW)
const told = ({ run, outcome, skipReason, skippedCount, dueTime }: TaskResult): string =>
  `run ${run} ${outcome}${skipReason ? ` ${skippedCount} (${skipReason})` : ''} due ${dueTime - NOW}`
/** Results of `report` as a person tells them. */
export const results = (world: SchedulerWorld): string[] => world.results('report').map(told)
export const skips = (world: SchedulerWorld): string[] =>
  results(world).filter((text) => text.includes('skipped'))
