import { isLive } from '../../../task/task.js'
import type { Connection } from '../connection.js'
import type { HandlerNumbers } from '../handler-numbers.js'
import { idOf } from '../id-key.js'
import type { LiveRow } from '../lookup.js'
import { stateOf } from '../numbers.js'
import { waitingValues } from '../table-columns.js'
import { readTask } from '../task-head.js'
import { type Finding, Tally } from './tally.js'

interface Row extends LiveRow {
  readonly shard: number
  readonly priority: number
  readonly not_before: number
  readonly paused: number
}

export interface LiveParts {
  readonly handlers: HandlerNumbers
  readonly nextStartId: number
  /** The newest position of the log. */
  readonly latest: number
}

/** Live tasks can be read, and the columns by which they are found say what the task says. */
export function checkLive(connection: Connection, parts: LiveParts): readonly Finding[] {
  const starts = new Tally('start ids come before the next one')
  const live = (['near', 'waiting'] as const).map((table) => {
    const tally = new Tally(`each task in ${table} can be read and is found by what it says`)

    for (const row of connection.prepare(`SELECT * FROM ${table}`).iterate() as Iterable<unknown>) {
      tally.note(faultOf(row as Row, table, parts))
      starts.note(startFault(row as Row, parts))
    }
    return tally
  })
  return [...live, starts]
}

function faultOf(row: Row, table: 'near' | 'waiting', parts: LiveParts): string | undefined {
  const name = `${idOf(row.id)} (arrival ${row.arrival})`
  try {
    const faults = [...columnFaults(row, parts), ...(table === 'waiting' ? waitingFaults(row) : [])]
    return faults.length === 0 ? undefined : `${name}: ${faults.join(', ')}`
  } catch (error) {
    return `${name}: ${(error as Error).message}`
  }
}

function columnFaults(row: Row, { handlers, latest }: LiveParts): string[] {
  const handler = handlers.nameOf(row.handler)
  const task = readTask(row.head, { arrival: row.arrival, id: idOf(row.id), handler, spec: row.spec })
  const state = stateOf(row.state)
  // a start that was noted later than the head was written stands in the columns alone
  const noted = row.start_us !== null
  const faults: string[] = []
  if (!isLive(state)) faults.push(`is ${state}, which no live task is`)
  if (noted ? state !== 'running' : state !== task.state)
    faults.push(`listed as ${state}, is ${noted ? 'running' : task.state}`)
  if (row.due !== task.dueTime) faults.push(`listed as due at ${row.due}, is due at ${task.dueTime}`)
  if (noted ? row.start_id <= task.startId : row.start_id !== task.startId)
    faults.push(`start id ${row.start_id}, of the task ${task.startId}`)
  if (row.log_position > latest) faults.push(`came in at ${row.log_position}, the log ends at ${latest}`)
  return faults
}

function startFault({ id, start_id: startId }: Row, { nextStartId }: LiveParts): string | undefined {
  return startId < nextStartId ? undefined : `${idOf(id)}: start id ${startId}, the next is ${nextStartId}`
}

function waitingFaults(row: Row): string[] {
  const says = waitingValues(row.head)
  const columns = [
    ['shard', row.shard, says.shard],
    ['priority', row.priority, says.priority],
    ['not before', row.not_before, says.notBefore],
    ['paused', row.paused, says.paused],
  ] as const
  return columns
    .filter(([, column, task]) => column !== task)
    .map(([what, column, task]) => `${what} listed as ${column}, is ${task}`)
}
