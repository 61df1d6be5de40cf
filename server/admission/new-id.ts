import { randomFillSync } from 'node:crypto'
import type { Instant } from '../task/instant.js'

const ID_BYTES = 16
const DIGITS = Buffer.from('0123456789abcdef')
const HYPHEN = 0x2d
/** Bytes after which a hyphen stands. */
const GROUP_ENDS: ReadonlySet<number> = new Set([3, 5, 7, 9])

/** Random bytes for 256 ids: asking the system for each id would cost more than all else that admission does for a task. */
const pool = new Uint8Array(256 * ID_BYTES)
let used = pool.length

const text = Buffer.alloc(36)
/** Where the first digit of each byte stands. */
const places = placesOfBytes()

/**
 * A new UUIDv7 (RFC 9562): unique, and sorted by the millisecond in which it was made.
 *
 * Written here and not by a package, for it is paid for each task that comes without an id: a text that is put together from its parts takes 700 bytes until it is
 * looked at, this takes none beside itself.
 */
export function newId(now: Instant): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const high = Math.floor(now / 2 ** 16)
  pool[used] = high >>> 24
  pool[used + 1] = high >>> 16
  pool[used + 2] = high >>> 8
  pool[used + 3] = high
  pool[used + 4] = now >>> 8
  pool[used + 5] = now
  // version 7, variant of RFC 9562
  pool[used + 6] = 0x70 | ((pool[used + 6] ?? 0) & 0x0f)
  pool[used + 8] = 0x80 | ((pool[used + 8] ?? 0) & 0x3f)
  for (let i = 0; i < ID_BYTES; i++) {
    const byte = pool[used + i] ?? 0
    const at = places[i] ?? 0
    text[at] = DIGITS[byte >>> 4] ?? 0
    text[at + 1] = DIGITS[byte & 0x0f] ?? 0
  }
  used += ID_BYTES
  return text.toString('latin1')
}

function placesOfBytes(): Uint8Array {
  const found = new Uint8Array(ID_BYTES)
  let at = 0
  for (let i = 0; i < ID_BYTES; i++) {
    found[i] = at
    at += 2
    if (GROUP_ENDS.has(i)) text[at++] = HYPHEN
  }
  return found
}
