import type { Connection } from '../connection.js'
import type { Counts } from '../counts.js'
import { idOf } from '../id-key.js'
import { type Finding, Tally } from './tally.js'

const TABLES = ['near', 'waiting', 'ended'] as const

/** Each remembered id has one task, in one place, and each task its id. */
export function checkPlaces(connection: Connection, counts: Counts): readonly Finding[] {
  return [onePlace(connection, counts), ...TABLES.map((table) => idOfEach(connection, table))]
}

function onePlace(connection: Connection, counts: Counts): Finding {
  const tally = new Tally('a remembered id has its task in exactly one place')
  const rows = connection
    .prepare(
      `SELECT id, arrival, (SELECT count(*) FROM near n WHERE n.arrival = ids.arrival) AS near,
         (SELECT count(*) FROM waiting w WHERE w.arrival = ids.arrival) AS waiting,
         (SELECT count(*) FROM ended e WHERE e.arrival = ids.arrival) AS ended FROM ids`,
    )
    .iterate() as Iterable<Record<(typeof TABLES)[number] | 'arrival', number> & { id: unknown }>
  for (const row of rows) {
    const places = TABLES.filter((table) => row[table] > 0)
    if (places.length !== 1)
      tally.note(`${idOf(row.id)} (arrival ${row.arrival}) is in ${places.join(' and ') || 'none'}`)
    else if (row.arrival > counts.newestArrival)
      tally.note(`${idOf(row.id)} has arrival ${row.arrival}, the newest is ${counts.newestArrival}`)
    else tally.note(undefined)
  }
  return tally
}

function idOfEach(connection: Connection, table: (typeof TABLES)[number]): Finding {
  const tally = new Tally(`each task in ${table} has its id remembered`)
  const namespace = table === 'ended' ? "''" : 't.namespace'
  const rows = connection
    .prepare(
      `SELECT t.id, t.arrival, (SELECT arrival FROM ids WHERE ids.namespace = ${namespace} AND ids.id = t.id) AS known FROM ${table} t`,
    )
    .iterate() as Iterable<{ id: unknown; arrival: number; known: number | null }>
  for (const { id, arrival, known } of rows)
    tally.note(
      known === arrival
        ? undefined
        : `${idOf(id)} has arrival ${arrival}, its id ${known === null ? 'is not remembered' : `says ${known}`}`,
    )
  return tally
}
