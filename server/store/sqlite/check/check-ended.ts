import type { Connection } from '../connection.js'
import type { HandlerNumbers } from '../handler-numbers.js'
import { idOf } from '../id-key.js'
import { endedTask, isOutline, readEntry } from '../log-entry-codec.js'
import type { Lookup } from '../lookup.js'
import { STATE_NUMBER } from '../numbers.js'
import { type Finding, Tally } from './tally.js'

interface Parts {
  readonly lookup: Lookup
  readonly handlers: HandlerNumbers
}

interface EndedRow {
  readonly arrival: number
  readonly id: unknown
  readonly position: number
  readonly due: number
  readonly state: number
  readonly handler: number
}

interface RunRow {
  readonly arrival: number
  readonly run: number
  readonly position: number
}

/** What ended tasks and earlier runs point at in the log is theirs. */
export function checkEnded(connection: Connection, parts: Parts): readonly Finding[] {
  const ended = new Tally('each ended task is where the log has it')
  // by position: each row of the log is then read once
  for (const row of connection
    .prepare('SELECT * FROM ended ORDER BY position')
    .iterate() as Iterable<unknown>)
    ended.note(attempt(() => endedFault(row as EndedRow, parts)))
  const runs = new Tally('each earlier run has its result in the log')
  for (const row of connection.prepare('SELECT * FROM runs ORDER BY position').iterate() as Iterable<unknown>)
    runs.note(attempt(() => runFault(row as RunRow, parts)))
  return [ended, runs]
}

function endedFault(row: EndedRow, { lookup, handlers }: Parts): string | undefined {
  const name = `${idOf(row.id)} (arrival ${row.arrival})`
  const found = lookup.entryAt(row.position)
  if (!found) return `${name}: nothing at position ${row.position}`
  const entry = readEntry(found.entry)
  if (entry.arrival !== row.arrival || entry.taskId !== idOf(row.id))
    return `${name}: position ${row.position} is of ${entry.taskId} (arrival ${entry.arrival})`
  if (entry.task.length === 0) return `${name}: position ${row.position} is not its end`
  const task = endedTask(entry)
  const handler = handlers.nameOf(row.handler)
  if (STATE_NUMBER[task.state] !== row.state || task.dueTime !== row.due || task.spec.handler !== handler)
    return `${name}: listed as state ${row.state}, due ${row.due}, ${handler}; is ${task.state}, ${task.dueTime}, ${task.spec.handler}`
  return undefined
}

function runFault({ arrival, run, position }: RunRow, { lookup }: Parts): string | undefined {
  const name = `run ${run} of arrival ${arrival}`
  const found = lookup.entryAt(position)
  if (!found) return `${name}: nothing at position ${position}`
  const entry = readEntry(found.entry)
  const isIt =
    entry.arrival === arrival && entry.run === run && entry.kind === 'result' && !isOutline(found.entry)
  return isIt
    ? undefined
    : `${name}: position ${position} is run ${entry.run} of arrival ${entry.arrival} (${entry.kind})`
}

function attempt(fault: () => string | undefined): string | undefined {
  try {
    return fault()
  } catch (error) {
    return (error as Error).message
  }
}
