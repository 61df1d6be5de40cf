import { Turns } from '../clock/turns.js'
import { encodeResult } from '../rpc/result-codec.js'
import { decodeResult } from '../rpc/result-decode.js'
import * as toFile from '../store/sqlite/transfer/export-file.js'
import { type ImportOptions, importStore } from '../store/sqlite/transfer/import-store.js'

/** What can be done with a store without its server. */
export { backupStore } from '../store/sqlite/backup.js'
export { checkStore } from '../store/sqlite/check/check-store.js'

const CODEC = { encode: encodeResult, decode: decodeResult }

/** All that a store holds, as lines of JSON, in pieces of whole lines; see `exportStore`. */
export const exportChunks = (path: string): ReturnType<typeof toFile.exportChunks> =>
  toFile.exportChunks(path, CODEC)

/** Writes an export to a file. */
export const exportFile = (
  options: Omit<toFile.ExportOptions, 'codec'>,
): ReturnType<typeof toFile.exportFile> => toFile.exportFile({ ...options, codec: CODEC })

/** Makes a store of such lines; see `importStore`. */
export const importLines = (options: Omit<ImportOptions, 'encode' | 'nextTurn'>): Promise<number> => {
  const turns = new Turns()
  return importStore({ ...options, encode: encodeResult, nextTurn: () => turns.next() })
}
