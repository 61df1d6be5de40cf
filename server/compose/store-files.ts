import { open } from 'node:fs/promises'
import { encodeResult } from '../rpc/result-codec.js'
import { decodeResult } from '../rpc/result-decode.js'
import { exportStore } from '../store/sqlite/transfer/export-store.js'
import { type ImportOptions, importStore } from '../store/sqlite/transfer/import-store.js'
import { wholeFile } from '../store/sqlite/whole-file.js'
import { writeLine } from '../store/transfer/write-line.js'

/** What can be done with a store without its server. */
export { backupStore } from '../store/sqlite/backup.js'
export { checkStore } from '../store/sqlite/check/check-store.js'

/** Written at once, so that a line does not cost a call. */
const CHUNK_CHARACTERS = 256 * 1024

/** A piece of an export: whole lines. `done`: how much of the store, from 0 to 1. */
export interface ExportChunk {
  readonly text: string
  readonly lines: number
  readonly done: number
}

/** All that a store holds, as lines of JSON; see `exportStore`. */
export function* exportChunks(path: string): Generator<ExportChunk> {
  let [text, lines] = ['', 0]
  for (const { line, done } of exportStore(path, { encode: encodeResult, decode: decodeResult })) {
    text += `${writeLine(line)}\n`
    lines += 1
    if (text.length < CHUNK_CHARACTERS && line.type !== 'end') continue
    yield { text, lines, done }
    text = ''
    lines = 0
  }
}

export interface ExportOptions {
  /** A data folder, or a backup. */
  readonly path: string
  /** A file that does not exist. */
  readonly to: string
  /** From 0 to 1. */
  readonly onProgress?: (done: number) => void
  /** Gives up; nothing is left behind. */
  readonly signal?: AbortSignal
}

/** Writes an export to a file. @returns how many lines it has, and bytes. */
export async function exportFile({
  path,
  to,
  onProgress,
  signal,
}: ExportOptions): Promise<{ lines: number; bytes: number }> {
  return wholeFile(to, 'an export', async (partial) => {
    const file = await open(partial, 'wx')
    try {
      let lines = 0
      for (const chunk of exportChunks(path)) {
        signal?.throwIfAborted()
        await file.writeFile(chunk.text)
        lines += chunk.lines
        onProgress?.(chunk.done)
      }
      return { lines, bytes: (await file.stat()).size }
    } finally {
      await file.close()
    }
  })
}

/** Makes a store from such lines; see `importStore`. */
export const importLines = (options: Omit<ImportOptions, 'encode'>): Promise<number> =>
  importStore({ ...options, encode: encodeResult })
