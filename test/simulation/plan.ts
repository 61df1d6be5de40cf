import type { Recurrence } from '../../server/task/recurrence/recurrence.js'
import { failure } from '../support/outcomes.js'
import type { Work } from '../support/scheduler-world.js'
import type { GivenSpec } from '../support/task-specs.js'

/** A task of a scenario, and how its attempts go: which attempt of which run takes how long, and whether it fails. */
export interface Plan {
  readonly recurrence?: Recurrence
  readonly delayMs: number
  readonly startWithinMs: number | undefined
  readonly maxAttempts: number
  readonly backoffMs: number
  readonly workMs: readonly number[]
  readonly fails: readonly boolean[]
}

const nth = <T>(values: readonly T[], run: number, attempt: number): T => {
  const value = values[(run * 3 + attempt * 5) % values.length]
  if (value === undefined) throw new Error('a plan has at least one value')
  return value
}

export const workMsOf = ({ workMs }: Plan, run: number, attempt: number): number => nth(workMs, run, attempt)
export const failsAt = ({ fails }: Plan, run: number, attempt: number): boolean => nth(fails, run, attempt)

/** @param number - Its place in the list that the handler looks it up in. */
export function specOf(id: string, plan: Plan, number: number): GivenSpec {
  const { recurrence, delayMs, startWithinMs, maxAttempts, backoffMs } = plan
  return {
    id,
    payload: { kind: 'json', text: String(number) },
    when: delayMs === 0 ? { kind: 'now' } : { kind: 'after', delayMs },
    retry: {
      maxAttempts,
      initialBackoffMs: backoffMs,
      backoffMultiplier: 1,
      maxBackoffMs: backoffMs,
      jitterRatio: 0,
    },
    ...(recurrence && { recurrence }),
    ...(startWithinMs !== undefined && { startWithinMs }),
  }
}

/** The handler of all plans. */
export const workOf =
  (plans: readonly Plan[]): Work =>
  async ({ payload, run, attempt }, { sleep }) => {
    const plan = payload.kind === 'json' ? plans[Number(payload.text)] : undefined
    if (!plan) throw new Error('the input is no number of a plan')
    await sleep(workMsOf(plan, run, attempt))
    return failsAt(plan, run, attempt) ? failure() : undefined
  }
