import type { ResultOutcome } from '../../task/result.js'
import type { TaskState } from '../../task/task.js'

/** States as they are kept. Never renumber: files hold them. */
export const STATE_NUMBER: Readonly<Record<TaskState, number>> = {
  scheduled: 1,
  running: 2,
  succeeded: 3,
  failed: 4,
  cancelled: 5,
  expired: 6,
}

/** Outcomes as they are kept. Never renumber. */
export const OUTCOME_NUMBER: Readonly<Record<ResultOutcome, number>> = {
  succeeded: 1,
  failed: 2,
  timedOut: 3,
  cancelled: 4,
  expired: 5,
  skipped: 6,
}

const invert = <K extends string>(numbers: Readonly<Record<K, number>>): ReadonlyMap<number, K> =>
  new Map((Object.entries(numbers) as [K, number][]).map(([name, number]) => [number, name]))

const STATES = invert(STATE_NUMBER)
const OUTCOMES = invert(OUTCOME_NUMBER)

function named<K>(names: ReadonlyMap<number, K>, number: number, what: string): K {
  const name = names.get(number)
  if (name === undefined) throw new Error(`the store holds an unknown ${what}: ${number}`)
  return name
}

export const stateOf = (number: number): TaskState => named(STATES, number, 'state')
export const outcomeOf = (number: number): ResultOutcome => named(OUTCOMES, number, 'outcome')
