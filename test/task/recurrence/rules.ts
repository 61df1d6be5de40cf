import { cronNext, cronRule, type CronDue } from '../../../server/task/recurrence/cron-next.js'
import type { CronRecurrence, RecurrenceInput } from '../../../server/task/recurrence/recurrence.js'
import { completeRecurrence } from '../../../server/task/recurrence/validate-recurrence.js'

/** A cron recurrence with the defaults, unless told otherwise. */
export function cron(
  expression: string,
  timeZone = 'UTC',
  more: Omit<RecurrenceInput, 'cron' | 'timeZone'> = {},
): CronRecurrence {
  const recurrence = completeRecurrence({ cron: expression, timeZone, ...more })
  if (recurrence.kind !== 'cron') throw new Error('not a cron recurrence')
  return recurrence
}

/** The next `count` due times after `base`, with their marks. */
export function nextDues(recurrence: CronRecurrence, base: number, count: number): CronDue[] {
  const rule = cronRule(recurrence)
  const dues: CronDue[] = []
  for (let next = cronNext(rule, base); next && dues.length < count; next = cronNext(rule, next.due))
    dues.push(next)
  return dues
}

/** The same, as a person writes them: '2027-03-14T07:30Z shifted'. */
export function nextTold(recurrence: CronRecurrence, base: string, count: number): string[] {
  return nextDues(recurrence, Date.parse(base), count).map(({ due, mark }) => `${told(due)} ${mark}`)
}

/** An instant in UTC, without zeros that say nothing. */
export const told = (instant: number): string => new Date(instant).toISOString().replace(/(:00)?\.000Z$/, 'Z')

/**
 * How a random test runs: fast-check prints `seed` and `path` when a property fails, and
 * `FC_SEED=… FC_PATH=… npx vitest run <file>` replays just that case. `FC_RUNS` tries more cases.
 */
export const randomRuns = (numRuns = 100) => ({
  numRuns: Number(process.env.FC_RUNS ?? numRuns),
  ...(process.env.FC_SEED !== undefined && { seed: Number(process.env.FC_SEED) }),
  ...(process.env.FC_PATH !== undefined && { path: process.env.FC_PATH }),
})
