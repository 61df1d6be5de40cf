import type { Instant } from '../../task/instant.js'
import { ENTRY } from './log-entry-codec.js'

/** A row of `log` as it is read. */
export interface LogRow {
  readonly first: number
  readonly last: number
  readonly time: Instant
  readonly body: Uint8Array
}

/** Where each entry of a body begins and ends. */
export function* pieces(body: Uint8Array): Generator<readonly [start: number, end: number]> {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  let start = 0
  while (start < body.length) {
    const end = start + 4 + view.getUint32(start, true)
    yield [start, end]
    start = end
  }
}

/** A row of the log whose entries are found by their positions. */
export class LogBody {
  readonly first: number
  readonly last: number
  readonly commitTime: Instant
  readonly #body: Uint8Array
  /** Where each entry begins, and its offset: ascending. */
  readonly #starts: number[] = []
  readonly #offsets: number[] = []

  constructor({ first, last, time, body }: LogRow) {
    this.first = first
    this.last = last
    this.commitTime = time
    this.#body = body
    const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
    for (const [start] of pieces(body)) {
      this.#starts.push(start)
      this.#offsets.push(view.getUint32(start + ENTRY.offset, true))
    }
  }

  /** The bytes of the entry at a position, if the row has it (still). */
  entryAt(position: number): Uint8Array | undefined {
    const offset = position - this.first
    let low = 0
    let high = this.#offsets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#offsets[middle] as number) < offset) low = middle + 1
      else high = middle
    }
    if (this.#offsets[low] !== offset) return undefined
    return this.#body.subarray(this.#starts[low], this.#starts[low + 1])
  }
}
