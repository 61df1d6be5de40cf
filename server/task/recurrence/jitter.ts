import type { Instant } from '../instant.js'

/**
 * How much later than its slot a run is due: 0 ≤ answer < `limitMs`, whole milliseconds. It depends on task id and slot alone, so that
 * preview, restart and every server agree, and tasks that share a slot are spread.
 *
 * @example jitterOf('report', 1_800_000_000_000, 60_000) // always the same, 0 … 59,999
 */
export function jitterOf(id: string, slot: Instant, limitMs: number): number {
  // Two 32-bit FNV-1a lanes with different starts give the 53 bits that a fraction of a long jitter needs.
  let high = 0x811c9dc5
  let low = 0x01000193
  const mix = (word: number): void => {
    high = Math.imul(high ^ word, 0x01000193)
    low = Math.imul(low ^ word, 0x85ebca6b)
    low ^= low >>> 13
  }
  for (let i = 0; i < id.length; i++) mix(id.charCodeAt(i))
  // Ids have no such character: "a" at slot 1 and "a1" cannot run into each other.
  mix(0xffff)
  mix(slot >>> 0)
  mix(Math.floor(slot / 2 ** 32))
  const fraction = ((scramble(high) & 0x1fffff) * 2 ** 32 + scramble(low)) / 2 ** 53
  return Math.floor(fraction * limitMs)
}

/** The finish of MurmurHash3: every bit of the answer hangs on every bit of the word. */
function scramble(word: number): number {
  let h = word ^ (word >>> 16)
  h = Math.imul(h, 0x85ebca6b)
  h ^= h >>> 13
  h = Math.imul(h, 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
