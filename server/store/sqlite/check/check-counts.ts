import type { Connection } from '../connection.js'
import { ConsumerRows } from '../consumers.js'
import type { Counts } from '../counts.js'
import { STATE_NUMBER } from '../numbers.js'
import { type Finding, Tally } from './tally.js'
import type { StoredConsumer } from '../../task-store.js'

/** Tasks are as many as counted, state by state. */
export function checkCounts(connection: Connection, counts: Counts): Finding {
  const tally = new Tally('tasks are as many as counted, state by state')
  const rows = connection
    .prepare(
      `SELECT state, count(*) AS n FROM (SELECT state FROM near UNION ALL SELECT state FROM waiting UNION ALL SELECT state FROM ended) GROUP BY state`,
    )
    .all() as { state: number; n: number }[]
  const found = new Map(rows.map(({ state, n }) => [state, n]))
  for (const [state, number] of Object.entries(STATE_NUMBER)) {
    const [there, counted] = [found.get(number) ?? 0, counts.get(number)]
    tally.note(there === counted ? undefined : `${there} are ${state}, ${counted} are counted`)
    found.delete(number)
  }
  for (const [state, n] of found) tally.note(`${n} are in an unknown state ${state}`)
  return tally
}

/** Durable consumers stand within the log. */
export function checkConsumers(connection: Connection, latest: number): Finding {
  const tally = new Tally('each durable consumer stands within the log')
  try {
    for (const { name, position } of new ConsumerRows(connection).run({
      kind: 'consumers',
    }) as readonly StoredConsumer[])
      tally.note(
        position >= 0 && position <= latest
          ? undefined
          : `${name} stands at ${position}, the log ends at ${latest}`,
      )
  } catch (error) {
    tally.note(`the filter of a consumer cannot be read: ${(error as Error).message}`)
  }
  return tally
}
