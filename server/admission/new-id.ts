import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

const ID_BYTES = 16

/** Random bytes for 256 ids: asking the system for each id would cost more than all else that admission does for a task. */
const pool = new Uint8Array(256 * ID_BYTES)
let used = pool.length

/** A new UUIDv7: unique, and sorted by the millisecond in which it was made. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += ID_BYTES
  return v7({ random: pool.subarray(used - ID_BYTES, used) })
}
