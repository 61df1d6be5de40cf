import type { TaskRow } from './task-codec.js'

/** The columns of an ended task as a list: kept a million times, so without names. */
type Columns = [
  arrival: number,
  id: string,
  shard: number,
  handler: string,
  state: number,
  paused: number,
  priority: number,
  due: number,
  notBefore: number,
  created: number,
  startId: number,
  progress: string | null,
]

/** A task that has ended, for the log entry of its last result: length of the columns, columns as JSON, packed spec. */
export function packEndedTask(row: TaskRow): Buffer {
  const columns: Columns = [
    row.arrival,
    row.id,
    row.shard,
    row.handler,
    row.state,
    row.paused,
    row.priority,
    row.due,
    row.notBefore,
    row.created,
    row.startId,
    row.progress,
  ]
  const json = JSON.stringify(columns)
  const bytes = Buffer.byteLength(json)
  const packed = Buffer.allocUnsafe(4 + bytes + row.spec.length)
  packed.writeUInt32LE(bytes, 0)
  packed.write(json, 4)
  packed.set(row.spec, 4 + bytes)
  return packed
}

export function unpackEndedTask(stored: Uint8Array): TaskRow {
  const packed = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
  const end = 4 + packed.readUInt32LE(0)
  const [arrival, id, shard, handler, state, paused, priority, due, notBefore, created, startId, progress] =
    JSON.parse(packed.toString('utf8', 4, end)) as Columns
  const spec = packed.subarray(end)
  return {
    arrival,
    id,
    shard,
    handler,
    state,
    paused,
    priority,
    due,
    notBefore,
    created,
    startId,
    progress,
    spec,
  }
}
