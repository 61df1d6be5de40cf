import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { exportStore, type ResultCodec } from '../../server/store/sqlite/transfer/export-store.js'
import { importStore } from '../../server/store/sqlite/transfer/import-store.js'
import { writeLine } from '../../server/store/transfer/write-line.js'

/** An export's lines as a file has them. */
export const exported = (path: string, codec: ResultCodec): string =>
  [...exportStore(path, codec)].map(({ line }) => `${writeLine(line)}\n`).join('')

// oxlint-disable-next-line require-await -- a stream of one chunk
export async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

/** What must be alike in a store and in what was imported from its export, beside the export itself. */
function tables(file: string): Record<string, unknown[]> {
  const connection = new DatabaseSync(file, { readOnly: true })
  try {
    const rows = (sql: string): unknown[] => connection.prepare(sql).all()
    return {
      ids: rows('SELECT hex(id) AS id, arrival FROM ids ORDER BY arrival'),
      ended: rows(
        'SELECT arrival, hex(id) AS id, position, due, state, name FROM ended JOIN handlers ON number = handler ORDER BY arrival',
      ),
      runs: rows('SELECT * FROM runs ORDER BY arrival, run'),
      consumers: rows('SELECT * FROM consumers ORDER BY name'),
    }
  } finally {
    connection.close()
  }
}

/**
 * Moves a store by export and import into a new folder.
 *
 * @returns both as they must be alike.
 */
export async function transferred(
  folder: string,
  codec: ResultCodec,
): Promise<{ before: unknown; after: unknown }> {
  const to = mkdtempSync(join(tmpdir(), 'punctual-transfer-'))
  try {
    const text = exported(folder, codec)
    await importStore({
      data: to,
      from: bytesOf(text),
      encode: codec.encode,
      nextTurn: () => Promise.resolve(),
    })
    const all = (data: string, lines: string) => ({ ...tables(join(data, 'punctual.db')), lines })
    return { before: all(folder, text), after: all(to, exported(to, codec)) }
  } finally {
    rmSync(to, { recursive: true })
  }
}
