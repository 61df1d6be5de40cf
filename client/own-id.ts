import { randomFillSync } from 'node:crypto'
import { v7 as uuidV7 } from 'uuid'

const ID_BYTES = 16

/** Random bytes for 256 ids at a time: asking the system for each costs more than the rest of an id. */
const pool = new Uint8Array(256 * ID_BYTES)
let used = pool.length

/** A new UUIDv7. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, used + ID_BYTES)
  used += ID_BYTES
  return uuidV7({ random })
}
