import { open } from 'node:fs/promises'
import { writeLine } from '../../transfer/write-line.js'
import { wholeFile } from '../whole-file.js'
import { exportStore, type ResultCodec } from './export-store.js'

/** Written at once, so that a line does not cost a call. */
const CHUNK_CHARACTERS = 256 * 1024

/** A piece of an export: whole lines. `done`: how much of the store, from 0 to 1. */
interface ExportChunk {
  readonly text: string
  readonly lines: number
  readonly done: number
}

/** All that a store holds, as lines of JSON; see `exportStore`. */
export function* exportChunks(path: string, codec: ResultCodec): Generator<ExportChunk> {
  let [text, lines] = ['', 0]
  for (const { line, done } of exportStore(path, codec)) {
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
  readonly codec: ResultCodec
  /** From 0 to 1. */
  readonly onProgress?: (done: number) => void
  /** Gives up; nothing is left behind. */
  readonly signal?: AbortSignal
}

/** Writes an export to a file. @returns how many lines it has, and bytes. */
export async function exportFile({
  path,
  to,
  codec,
  onProgress,
  signal,
}: ExportOptions): Promise<{ lines: number; bytes: number }> {
  return wholeFile(to, 'an export', async (partial) => {
    const file = await open(partial, 'wx')
    try {
      let lines = 0
      for (const chunk of exportChunks(path, codec)) {
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
