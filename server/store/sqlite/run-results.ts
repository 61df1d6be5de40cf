import type { Connection } from './connection.js'
import { pieces } from './log-body.js'
import { ENTRY, KIND } from './log-entry-codec.js'

/** Where the results of runs stand in the log that did not end their task; the last one is found through `ended`. */
export class RunResults {
  readonly #remember

  constructor(connection: Connection) {
    this.#remember = connection.prepare('INSERT OR REPLACE INTO runs VALUES (?, ?, ?)')
  }

  /** @param entries - Of one task, one after another, the first at position `first`. */
  remember(arrival: number, entries: Uint8Array, first: number, which: 'all' | 'but the last'): void {
    const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength)
    let position = first
    for (const [start, end] of pieces(entries)) {
      const isResult = view.getUint8(start + ENTRY.kind) === KIND.result
      if (isResult && (which === 'all' || end < entries.length))
        this.rememberOne(arrival, view.getFloat64(start + ENTRY.run, true), position)
      position += 1
    }
  }

  rememberOne(arrival: number, run: number, position: number): void {
    this.#remember.run(arrival, run, position)
  }
}
