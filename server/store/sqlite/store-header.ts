import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { StoreOpenError } from '../task-store.js'
import { APPLICATION_ID, SCHEMA_VERSION } from './migrate.js'

/**
 * Looks at a file without opening it as a database, so that a foreign one stays untouched. An empty one passes.
 *
 * @throws StoreOpenError when it is not a store that this version can read.
 */
export function checkHeader(file: string): void {
  const header = readHeader(file)
  if (header.length === 0) return
  if (header.length < 100 || header.toString('latin1', 0, 15) !== 'SQLite format 3')
    throw new StoreOpenError(
      `${file} is not a Punctual store (not an SQLite file); give another folder to --data`,
    )
  const application = header.readUInt32BE(68)
  if (application !== APPLICATION_ID)
    throw new StoreOpenError(`${file} is an SQLite file of another program; give another folder to --data`)
  const version = header.readUInt32BE(60)
  if (version > SCHEMA_VERSION)
    throw new StoreOpenError(
      `the store ${file} was written by a newer Punctual (schema ${version}; this one knows up to ${SCHEMA_VERSION}); run that version`,
    )
}

function readHeader(file: string): Buffer {
  let handle: number
  try {
    handle = openSync(file, 'r')
  } catch (error) {
    throw new StoreOpenError(`cannot read the store ${file}: ${(error as Error).message}`, { cause: error })
  }
  try {
    const header = Buffer.alloc(Math.min(100, fstatSync(handle).size))
    readSync(handle, header, 0, header.length, 0)
    return header
  } finally {
    closeSync(handle)
  }
}
