import { join } from 'node:path'
import { StoreOpenError } from '../../task-store.js'
import { readLine } from '../../transfer/read-line.js'
import { splitLines } from '../../transfer/split-lines.js'
import { type CheckReport, type CheckStep, checkSteps } from '../check/check-store.js'
import { type Connection, openDraft } from '../connection.js'
import { migrate } from '../migrate.js'
import { lockFolder, makeFolder, STORE_FILE } from '../store-folder.js'
import { wholeFile } from '../whole-file.js'
import type { ResultCodec } from './export-store.js'
import { ImportRows } from './import-rows.js'

export interface ImportOptions {
  /** The data folder: has no store yet; made if it does not exist. */
  readonly data: string
  /** The export, as bytes of UTF-8. */
  readonly from: AsyncIterable<Uint8Array>
  readonly encode: ResultCodec['encode']
  /** Lets the event loop turn, so that an interrupt is heard. */
  readonly nextTurn: () => Promise<void>
  /** Told now and then how many bytes of the export have been read. */
  readonly onRead?: (bytes: number) => void
  /** Told before each part of the check at the end. */
  readonly onCheck?: (step: CheckStep) => void
  /** Gives up; nothing is left behind. */
  readonly signal?: AbortSignal
}

const LINES_A_STEP = 1_000

/**
 * Makes a store from what `exportStore` gave. All of it or nothing: the store gets its name when every line is in it, every invariant holds, and it is on disk.
 * It has no log id, so that cursors of the old log are refused; what ran is found as after a clean stop, and runs again.
 *
 * @returns how many lines there were.
 * @throws StoreOpenError that names the line and says what is wrong, or when the folder has a store.
 * @example await importStore({ data: '/var/lib/punctual', from: createReadStream('monday.jsonl'), encode })
 */
export async function importStore({ data, ...options }: ImportOptions): Promise<number> {
  makeFolder(data)
  const lock = lockFolder(data)
  try {
    return await wholeFile(join(data, STORE_FILE), 'an import', async (partial) => {
      const lines = await fill(partial, options)
      mustHold(await checked(partial, options))
      return lines
    })
  } catch (error) {
    if (options.signal?.aborted || error instanceof StoreOpenError) throw error
    throw new StoreOpenError(`cannot import into ${data}: ${(error as Error).message}`, { cause: error })
  } finally {
    lock.close()
  }
}

async function fill(file: string, options: Omit<ImportOptions, 'data'>): Promise<number> {
  const connection = openDraft(file)
  try {
    migrate(connection, '', 0)
    return await addLines(connection, options)
  } finally {
    connection.close()
  }
}

async function addLines(
  connection: Connection,
  { from, encode, onRead, signal }: Omit<ImportOptions, 'data'>,
): Promise<number> {
  connection.exec('BEGIN')
  const rows = new ImportRows(connection, encode)
  let lines = 0
  for await (const { number, text, bytesRead } of splitLines(from)) {
    lines = number
    try {
      rows.add(readLine(text))
    } catch (error) {
      throw new StoreOpenError(`line ${number}: ${(error as Error).message}`, { cause: error })
    }
    if (number % LINES_A_STEP > 0) continue
    signal?.throwIfAborted()
    onRead?.(bytesRead)
  }
  signal?.throwIfAborted()
  rows.finish()
  connection.exec('COMMIT')
  return lines
}

async function checked(
  file: string,
  { nextTurn, onCheck, signal }: Omit<ImportOptions, 'data'>,
): Promise<CheckReport> {
  const steps = checkSteps(file)
  try {
    for (;;) {
      const next = steps.next()
      if (next.done) return next.value
      onCheck?.(next.value)
      await nextTurn()
      signal?.throwIfAborted()
    }
  } finally {
    steps.return({ file, findings: [] })
  }
}

function mustHold({ findings }: CheckReport): void {
  const broken = findings.find((finding) => finding.broken > 0)
  if (broken)
    throw new StoreOpenError(`not so in this export: ${broken.invariant}: ${broken.examples[0] ?? ''}`)
}
