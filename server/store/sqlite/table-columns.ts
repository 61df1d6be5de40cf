import { HEAD, PRIORITY_SHIFT } from './task-head.js'

/** Columns that `near` and `waiting` have alike. */
export const LIVE_COLUMNS =
  'arrival, namespace, id, handler, due, state, start_id, attempts, start_us, log_position, head, spec'
/** The same, of the table that a statement calls `t`. */
export const LIVE_COLUMNS_OF_T = `t.${LIVE_COLUMNS.replaceAll(', ', ', t.')}`
/** What `waiting` has beside them, so that it can be searched: all of it stands in the head too. */
export const WAITING_COLUMNS = 'shard, priority, not_before, paused'

/** The columns of `waiting` that a head holds. */
export interface WaitingValues {
  readonly shard: number
  readonly priority: number
  readonly notBefore: number
  readonly paused: number
}

export function waitingValues(head: Uint8Array): WaitingValues {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  return {
    shard: view.getUint8(HEAD.shard),
    priority: view.getUint8(HEAD.priority) - PRIORITY_SHIFT,
    notBefore: view.getFloat64(HEAD.notBefore, true),
    paused: view.getUint8(HEAD.parts) & 1,
  }
}
