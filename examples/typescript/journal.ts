import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'

/** What one response brought. */
export interface JournalEntry {
  readonly cursor: string
  readonly results: readonly JournalResult[]
}

/** As much of a result as this consumer is about. */
export interface JournalResult {
  readonly sequence: number
  readonly taskId: string
  readonly run: number
  readonly outcome: string
  readonly output: unknown
}

/**
 * Where a consumer keeps what it has received: one line of JSON for each response, its results and its cursor together. Because they are one
 * write, a crash loses both or neither: nothing is missed and nothing is kept twice.
 */
export class Journal {
  readonly #file: number
  #cursor: string | undefined

  constructor(path: string) {
    this.#file = openSync(path, 'a+')
    const text = readFileSync(path, 'utf8')
    // a crash in the middle of a write leaves a line without an end
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    ftruncateSync(this.#file, Buffer.byteLength(whole))
    this.#cursor = readJournal(whole).at(-1)?.cursor
  }

  /** After what was received last; undefined when nothing was. */
  get cursor(): string | undefined {
    return this.#cursor
  }

  /** Keeps an entry, on disk when this returns. What must happen with the results, happens here: in the same transaction as the cursor. */
  append(entry: JournalEntry): void {
    writeSync(this.#file, `${JSON.stringify(entry)}\n`)
    fsyncSync(this.#file)
    this.#cursor = entry.cursor
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** The entries of a journal's text. */
export function readJournal(text: string): JournalEntry[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as JournalEntry]))
}
