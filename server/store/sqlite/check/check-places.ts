import type { Connection } from '../connection.js'
import type { Counts } from '../counts.js'
import { idOf } from '../id-key.js'
import { type Finding, Tally } from './tally.js'

const TABLES = ['near', 'waiting', 'ended'] as const

/** Each remembered id has one task, in one place, and each task its id. SQLite compares by itself and hands out only what is wrong: a row that crosses costs more. */
export function checkPlaces(connection: Connection, counts: Counts): readonly Finding[] {
  return [onePlace(connection, counts), ...TABLES.map((table) => idOfEach(connection, table))]
}

function onePlace(connection: Connection, counts: Counts): Finding {
  const tally = new Tally('a remembered id has its task in exactly one place')
  const rows = connection
    .prepare(
      `SELECT * FROM (SELECT id, arrival, (SELECT count(*) FROM near n WHERE n.arrival = ids.arrival) AS near,
         (SELECT count(*) FROM waiting w WHERE w.arrival = ids.arrival) AS waiting,
         (SELECT count(*) FROM ended e WHERE e.arrival = ids.arrival) AS ended FROM ids)
       WHERE near + waiting + ended <> 1 OR arrival > ?`,
    )
    .iterate(counts.newestArrival) as Iterable<
    Record<(typeof TABLES)[number] | 'arrival', number> & { id: unknown }
  >
  for (const row of rows) {
    const places = TABLES.filter((table) => row[table] > 0)
    tally.note(
      places.length === 1
        ? `${idOf(row.id)} has arrival ${row.arrival}, the newest is ${counts.newestArrival}`
        : `${idOf(row.id)} (arrival ${row.arrival}) is in ${places.join(' and ') || 'none'}`,
    )
  }
  tally.checked = countOf(connection, 'ids')
  return tally
}

function idOfEach(connection: Connection, table: (typeof TABLES)[number]): Finding {
  const tally = new Tally(`each task in ${table} has its id remembered`)
  const namespace = table === 'ended' ? "''" : 't.namespace'
  const rows = connection
    .prepare(
      `SELECT * FROM (SELECT t.id, t.arrival, (SELECT arrival FROM ids WHERE ids.namespace = ${namespace} AND ids.id = t.id) AS known FROM ${table} t)
       WHERE known IS NOT arrival`,
    )
    .iterate() as Iterable<{ id: unknown; arrival: number; known: number | null }>
  for (const { id, arrival, known } of rows)
    tally.note(
      `${idOf(id)} has arrival ${arrival}, its id ${known === null ? 'is not remembered' : `says ${known}`}`,
    )
  tally.checked = countOf(connection, table)
  return tally
}

const countOf = (connection: Connection, table: string): number =>
  (connection.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n
