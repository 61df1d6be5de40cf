import type { Transition } from '../../task/result.js'
import type { NewTask, Task } from '../../task/task.js'
import { isLive } from '../../task/task.js'
import type { TaskSpec } from '../../task/task-spec.js'
import type { EncodeResult, InsertRequest, LogEntry } from '../task-store.js'
import { packEndedTask } from './ended-task.js'
import { idKey } from './id-key.js'
import { packEntry } from './log-body.js'
import type { InsertColumns, PackedTransition, PackedUpdate } from './operations.js'
import { packTask, type TaskRow } from './task-codec.js'

const NOTHING = new Uint8Array(0)

export function packInsert(requests: readonly InsertRequest[]): InsertColumns {
  const rows = requests.map(({ task }) => packTask(task))
  return {
    keys: rows.map(({ id }) => idKey(id)),
    shards: rows.map(({ shard }) => shard),
    handlers: rows.map(({ handler }) => handler),
    states: rows.map(({ state }) => state),
    paused: rows.map(({ paused }) => paused),
    priorities: rows.map(({ priority }) => priority),
    dues: rows.map(({ due }) => due),
    notBefores: rows.map(({ notBefore }) => notBefore),
    created: rows.map(({ created }) => created),
    nears: requests.map(({ near }) => (near ? 1 : 0)),
    progress: rows.every(({ progress }) => progress === null) ? null : rows.map(({ progress }) => progress),
    specs: Buffer.concat(rows.map(({ spec }) => spec)),
    specBytes: rows.map(({ spec }) => spec.length),
  }
}

/** The entries of an update as streams will see them once their positions are known. */
export type PendingEntry = Omit<LogEntry, 'position' | 'commitTime'>

/** Packs transitions; `storedSpecs` holds the specs that the store has already, so that a large input is written once. */
export function packUpdate(
  now: number,
  transitions: readonly (Transition & { readonly reopen?: boolean })[],
  encode: EncodeResult,
  storedSpecs: WeakSet<TaskSpec>,
): { update: PackedUpdate; pending: PendingEntry[] } {
  const packed: PackedTransition[] = []
  const pending: PendingEntry[] = []
  const pieces: Buffer[] = []
  const entryEnds: number[] = []
  let bytes = 0
  for (const { task, entries, reopen } of transitions) {
    const from = pending.length
    const row = packTask(task)
    const live = isLive(task.state)
    entries.forEach((result, i) => {
      const entry: PendingEntry = {
        kind: result.kind,
        taskId: result.taskId,
        handler: result.handler,
        outcome: result.outcome,
        origin: result.origin,
        labels: result.labels,
        run: result.run,
        bytes: encode(result),
      }
      const end = !live && i === entries.length - 1 ? packEndedTask(row) : NOTHING
      const piece = packEntry({ ...entry, arrival: task.arrival, task: end })
      pending.push(entry)
      pieces.push(piece)
      bytes += piece.length
      entryEnds.push(bytes)
    })
    if (!live && entries.length === 0) throw new Error(`the task ${task.spec.id} has ended without a result`)
    packed.push({
      arrival: task.arrival,
      startId: task.startId,
      reopen: reopen ?? false,
      live: live ? row : undefined,
      newSpec: live && !storedSpecs.has(task.spec),
      ended: live ? undefined : endedOf(row),
      entriesFrom: from,
      entriesTo: pending.length,
      runs: entries.map(({ kind, run }) => (kind === 'result' ? run : 0)),
    })
    if (live) storedSpecs.add(task.spec)
  }
  return { update: { now, transitions: packed, entries: Buffer.concat(pieces), entryEnds }, pending }
}

function endedOf(row: TaskRow): NonNullable<PackedTransition['ended']> {
  return { key: idKey(row.id), due: row.due, state: row.state, handler: row.handler }
}

/** The task that an insert made. */
export const numbered = (task: NewTask, arrival: number): Task => ({ ...task, arrival })
